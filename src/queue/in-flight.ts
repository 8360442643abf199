// Calls that run: each ends once, whatever its handler does.

import type { Fatal } from '../contract/outcome.ts'
import { refuseFatal } from '../contract/refusals.ts'
import { emit } from '../runtime/events.ts'
import type { Handle, Handled, Lane } from './queue.ts'
import type { Row } from './row.ts'

/** How a call came about: in the normal way, to find who is guilty in a call that was refused, or to see whether the provider is back. */
export type Kind = 'batch' | 'search' | 'probe'

export interface InFlight {
  readonly calls: number
  readonly items: number
  begin(kind: Kind, rows: readonly Row[], now: number, full: boolean): void
  /** Gives up calls that ignored their deadline. @returns how many milliseconds until the next look */
  endOverdue(now: number): number
}

export interface InFlightOptions {
  readonly lane: Lane
  readonly handle: Handle
  readonly signal: AbortSignal
  /** One outcome for each row, in order. */
  readonly onEnd: (kind: Kind, rows: readonly Row[], outcomes: readonly Handled[]) => void
}

interface Call {
  readonly deadline: number
  /** What comes later is ignored. */
  readonly end: (outcomes: unknown) => void
}

/** The handler has its own timeout; one that ignores it must not keep its place for ever. */
const graceMs = 1_000

export function createInFlight({ lane, handle, signal, onEnd }: InFlightOptions): InFlight {
  // A few. Not a Set: those that it was outgrown by would keep the rows of calls long ended (runtime/transient-map.ts).
  const calls: Call[] = []
  let items = 0

  return {
    get calls() {
      return calls.length
    },
    get items() {
      return items
    },
    begin(kind, rows, now, full) {
      const deadline = now + lane.timeoutMs
      const call: Call = {
        deadline,
        end(outcomes) {
          const at = calls.indexOf(call)
          if (at < 0) return
          calls.splice(at, 1)
          items -= rows.length
          onEnd(kind, rows, checked(rows, outcomes))
        },
      }
      calls.push(call)
      items += rows.length
      const bytes = rows.reduce((sum, row) => sum + row.bytes, 0)
      emit('batch.sent', { lane: lane.name, items: rows.length, bytes, full })
      let answer: Promise<readonly Handled[]>
      try {
        answer = handle(rows, { deadline, signal })
      } catch (error) {
        answer = Promise.reject(error)
      }
      answer.then(call.end, (error: unknown) => {
        call.end(rows.map(() => nonsense(rows, error instanceof Error ? error.message : String(error))))
      })
    },
    endOverdue(now) {
      let nextMs = Number.POSITIVE_INFINITY
      for (const call of [...calls]) {
        const leftMs = call.deadline + graceMs - now
        if (leftMs > 0) nextMs = Math.min(nextMs, leftMs)
        else call.end(overdue)
      }
      return nextMs
    },
  }
}

const overdue = Symbol('no answer in time')

/** guard() makes sure of what a provider answers; a handler without it may answer anything too. */
function checked(rows: readonly Row[], outcomes: unknown): Handled[] {
  if (outcomes === overdue) return rows.map(() => late)
  if (!Array.isArray(outcomes) || outcomes.length !== rows.length) {
    return rows.map(() => nonsense(rows, 'not one outcome for each item'))
  }
  return Array.from(outcomes as Handled[], (each) => (isOutcome(each) ? each : nonsense([], 'an outcome that is none')))
}

function isOutcome(outcome: Handled | null | undefined): boolean {
  switch (outcome?.category) {
    case 'successful':
      return true
    case 'failed':
      return typeof outcome.error === 'string'
    case 'fatal':
      return outcome.blame === 'message' || outcome.blame === 'call' || outcome.blame === 'provider'
    default:
      return false
  }
}

function nonsense(rows: readonly Row[], what: string): Fatal {
  const blame = rows.length > 1 ? 'call' : 'message'
  return refuseFatal('handler_failed', { blame, error: `the handler failed: ${what}` })
}

const late = refuseFatal('timed_out', { uncertain: true })
