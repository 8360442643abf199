// Outcomes that a behaviour forces upon messages. The other messages of a batch get their outcome from the real operator. Pure.

import { batchAnswer, singleAnswer } from '../../contract/answer.ts'
import type { Channel, Mode } from '../../contract/endpoints.ts'
import type { Failed, Fatal } from '../../contract/outcome.ts'
import { readBatch, readSingle } from '../../contract/read-activity.ts'
import type { RealAnswer } from './arrival.ts'
import type { Behaviour } from './behaviour.ts'

export interface Forced {
  /** The request for the real operator. Absent: all outcomes are forced. */
  readonly body?: Buffer
  readonly behaviour?: Behaviour
  /** Adds the forced outcomes to the real operator's answer. */
  complete(real: RealAnswer | undefined): RealAnswer
}

type OutcomeOf = (user: string) => Behaviour['outcome']

const error = 'forced by a behaviour of the fake operator'
const outcomes: { readonly failed: Failed; readonly fatal: Fatal } = {
  failed: { category: 'failed', error, rule: 'forced', reason: 'rejected' },
  fatal: { category: 'fatal', error, rule: 'forced', reason: 'unavailable', blame: 'message' },
}

/** @param outcomeOf the outcome of a message to this user; undefined: that of the real operator */
export function forceOutcomes(channel: Channel, mode: Mode, body: Buffer, outcomeOf: OutcomeOf): Forced {
  return mode === 'single' ? forceSingle(channel, body, outcomeOf) : forceBatch(channel, body, outcomeOf)
}

function forceSingle(channel: Channel, body: Buffer, outcomeOf: OutcomeOf): Forced {
  const item = readSingle(body)
  const outcome = 'invalid' in item ? undefined : outcomeOf(item.userId)
  if (outcome === undefined) return { body, complete: (real) => real as RealAnswer }
  return {
    behaviour: { outcome },
    complete() {
      // A single answer cannot lack its message: it lacks the identifier.
      if (outcome === 'absent') return { status: 200, text: '{}', headers: {} }
      const { status, body: text, retryAfterSeconds } = singleAnswer(channel, outcomes[outcome])
      return { status, text, headers: retryAfterSeconds === undefined ? {} : { 'retry-after': `${retryAfterSeconds}` } }
    },
  }
}

function forceBatch(channel: Channel, body: Buffer, outcomeOf: OutcomeOf): Forced {
  const read = readBatch(body)
  if ('invalid' in read) return { body, complete: (real) => real as RealAnswer }
  const forced: { readonly idJson: string; readonly outcome: 'failed' | 'fatal' | 'absent' }[] = []
  const others: string[] = []
  for (const item of read.items) {
    const outcome = 'invalid' in item ? undefined : outcomeOf(item.userId)
    if (outcome === undefined) others.push(item.text)
    else forced.push({ idJson: item.idJson as string, outcome })
  }
  const [first] = forced
  if (!first) return { body, complete: (real) => real as RealAnswer }
  const reported = forced.flatMap(({ idJson, outcome }) =>
    outcome === 'absent' ? [] : [{ idJson, outcome: outcomes[outcome] }],
  )
  return {
    // With an empty batch the real operator still checks the key.
    body: Buffer.from(`[${others.join(',')}]`),
    behaviour: { outcome: first.outcome },
    complete(real) {
      if (real?.status !== 200) return real as RealAnswer
      return { ...real, text: joinAnswers(real.text, batchAnswer(channel, reported)) }
    },
  }
}

/** Joins the lists of two answers, both written by batchAnswer(), without changing a digit of an id. */
function joinAnswers(first: string, second: string): string {
  const [a, b] = [listsOf(first), listsOf(second)]
  const lists = a.map((list, i) => [list, b[i]].filter(Boolean).join(','))
  return `{"successful":[${lists[0]}],"failed":[${lists[1]}],"fatal":[${lists[2]}]}`
}

/** A quotation mark within a text is escaped, so the names of the lists are found only where they are names. */
function listsOf(answer: string): readonly string[] {
  return /^\{"successful":\[(.*)\],"failed":\[(.*)\],"fatal":\[(.*)\]\}$/s.exec(answer)?.slice(1) ?? ['', '', '']
}
