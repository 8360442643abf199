// The verdicts of a judgement other than "passed". A judgement throws the first one that applies.

import type { Answer, Exchange } from './exchange.ts'

export abstract class Verdict extends Error {}

/** The rule is violated. The message says what was seen. */
export class Failed extends Verdict {}

/** The rule could not be judged. The message gives the reason. */
export class NotJudged extends Verdict {
  /** A message to a user who can receive it was not delivered, so the behaviour after a success was not seen. */
  readonly noSuccess: boolean

  constructor(reason: string, noSuccess = false) {
    super(reason)
    this.noSuccess = noSuccess
  }
}

/** The rule does not concern this operator. */
export class NotApplicable extends Verdict {}

/** The subject of the checks cannot be reached: the run ends. */
export class Unreachable extends Error {
  /** The subject has gone because the checker closed a connection on purpose: the scenario has a finding. */
  readonly isCrash: boolean

  constructor(message: string, isCrash = false) {
    super(message)
    this.isCrash = isCrash
  }
}

export const afterLeaving = 'right after the checker closed the connection of another request'

/** @throws Failed if the condition is false */
export function expect(condition: boolean, seen: string): asserts condition {
  if (!condition) throw new Failed(seen)
}

/** The answer of an exchange. @throws Failed if the operator gave none, NotJudged if the connection failed */
export function answerOf({ label, answer, lost, abandoned }: Exchange): Answer {
  if (lost?.blame === 'connection') throw new NotJudged(`${label}: ${lost.detail}`)
  if (lost?.blame === 'crash') throw new Failed(`${label}: ${lost.detail}, ${afterLeaving}`)
  if (lost)
    throw new Failed(`${label}: ${lost.detail}, although the operator answered another request right afterwards`)
  if (abandoned || !answer) throw new NotJudged(`${label}: the checker did not wait for the answer`)
  return answer
}

/** @throws Failed if the answer does not fit, and as answerOf() */
export function expectAnswer(exchange: Exchange, fits: (answer: Answer) => boolean): void {
  const answer = answerOf(exchange)
  expect(fits(answer), `${exchange.label}: ${shownAnswer(answer)}`)
}

/** The operator gave no answer to this request, although it answered another one right afterwards. */
export const isUnanswered = ({ answer, lost }: Exchange): boolean => !answer && lost?.blame === 'operator'

/** A short description of an answer, for people. */
export function shownAnswer({ status, body }: Answer): string {
  const text = body.replaceAll(/\s+/g, ' ').trim()
  return text === '' ? `status ${status} without a body` : `status ${status}, ${excerpt(text)}`
}

/** The status of an answer, and its error if it has one: for reasons that are listed many times. */
export function briefAnswer({ status, body }: Answer): string {
  const error = /"error"\s*:\s*"((?:[^"\\]|\\.){1,100})/.exec(body)?.[1]
  return error === undefined ? `status ${status}` : `status ${status}: ${error}`
}

export function excerpt(text: string, most = 160): string {
  return text.length > most ? `${text.slice(0, most)}…` : text
}
