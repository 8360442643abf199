// The running calls of a lane. Each call ends exactly once, even if its handler throws, hangs or returns rubbish.

import type { Fatal } from '../../../contract/outcome.ts'
import { refuseFatal } from '../../../contract/refusals.ts'
import { clock } from '../../runtime/clock.ts'
import { emit } from '../../runtime/events.ts'
import { messageOf } from '../../runtime/message-of.ts'
import { timeoutError } from '../../runtime/timeout-error.ts'
import type { HandledOutcome, Item, Lane, LaneHandler } from '../queue.ts'
import type { BufferedItem } from './buffered-item.ts'

/** batch: a normal call. split: a part of a batch that was refused as a whole. probe: one message that tests a held lane. */
export type CallKind = 'batch' | 'split' | 'probe'

export interface RunningCalls {
  readonly calls: number
  readonly items: number
  /** `now`: clock.steady(). */
  startCall(kind: CallKind, items: readonly BufferedItem[], now: number, full: boolean): void
  /** Aborts calls at their deadline, and ends calls that ignore it. @returns milliseconds until the next call is due */
  endOverdueCalls(now: number): number
}

export interface RunningCallsOptions {
  readonly lane: Lane
  readonly handle: (
    items: readonly Item[],
    context: { readonly deadline: number; readonly signal: AbortSignal },
  ) => ReturnType<LaneHandler>
  readonly signal: AbortSignal
  /** Receives one outcome for each item, in order. */
  readonly onEnd: (kind: CallKind, items: readonly BufferedItem[], outcomes: readonly HandledOutcome[]) => void
}

interface RunningCall {
  /** By clock.steady(). The handler has it by the clock of the machine. */
  readonly deadline: number
  readonly controller: AbortController
  /** Only the first end counts. */
  readonly end: (outcomes: unknown) => void
}

/** A handler that ignores its signal loses its slot after this time. */
const graceMs = 1_000

export function createRunningCalls({ lane, handle, signal, onEnd }: RunningCallsOptions): RunningCalls {
  // An array, not a Set: the backing store that a growing Set leaves behind keeps ended calls alive (runtime/transient-map.ts).
  const calls: RunningCall[] = []
  let itemCount = 0

  return {
    get calls() {
      return calls.length
    },
    get items() {
      return itemCount
    },
    startCall(kind, items, now, full) {
      const deadline = now + lane.timeoutMs
      const controller = new AbortController()
      const abort = (): void => controller.abort(signal.reason)
      signal.addEventListener('abort', abort, { once: true })
      const call: RunningCall = {
        deadline,
        controller,
        end(outcomes) {
          const index = calls.indexOf(call)
          if (index < 0) return
          signal.removeEventListener('abort', abort)
          calls.splice(index, 1)
          itemCount -= items.length
          onEnd(kind, items, checkOutcomes(items, outcomes))
        },
      }
      calls.push(call)
      itemCount += items.length
      const bytes = items.reduce((sum, item) => sum + item.bytes, 0)
      emit('batch.sent', { lane: lane.name, items: items.length, bytes, full })
      let answer: Promise<readonly HandledOutcome[]>
      try {
        answer = handle(items, { deadline: clock.now() + lane.timeoutMs, signal: controller.signal })
      } catch (error) {
        answer = Promise.reject(error)
      }
      answer.then(call.end, (error: unknown) => {
        const message = messageOf(error)
        call.end(items.map(() => handlerFailed(items.length, message)))
      })
    },
    endOverdueCalls(now) {
      let nextMs = Number.POSITIVE_INFINITY
      for (const call of [...calls]) {
        const remainingMs = call.deadline - now
        if (remainingMs <= 0) call.controller.abort(timeoutError())
        if (remainingMs + graceMs > 0) nextMs = Math.min(nextMs, remainingMs > 0 ? remainingMs : remainingMs + graceMs)
        else call.end(overdue)
      }
      return nextMs
    },
  }
}

const overdue = Symbol('no answer in time')

/** callProvider() validates the results of a provider; another handler may return anything. */
function checkOutcomes(items: readonly BufferedItem[], outcomes: unknown): HandledOutcome[] {
  if (outcomes === overdue) return items.map(() => timedOut)
  if (!Array.isArray(outcomes) || outcomes.length !== items.length) {
    return items.map(() => handlerFailed(items.length, 'it did not return one outcome for each item'))
  }
  return Array.from(outcomes as HandledOutcome[], (outcome) =>
    isOutcome(outcome) ? outcome : handlerFailed(1, 'it returned an invalid outcome'),
  )
}

function isOutcome(outcome: HandledOutcome | null | undefined): boolean {
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

const handlerFailed = (itemsInCall: number, problem: string): Fatal =>
  refuseFatal('handler_failed', {
    blame: itemsInCall > 1 ? 'call' : 'message',
    error: `the handler failed: ${problem}`,
  })

const timedOut = refuseFatal('timed_out', { uncertain: true })
