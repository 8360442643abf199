import { retryIn } from './backoff.ts'
import { clock } from './clock.ts'
import { emit } from './events.ts'
import { messageOf } from './message-of.ts'

export interface Loop {
  start(): void
  /** Starts the next turn now, or right after the current one. */
  wake(): void
  /** Starts no more turns; resolves when the current one has ended. */
  stop(): Promise<void>
}

const failureBackoff = { firstMs: 100, mostMs: 5_000 }
/** With a longer delay, setTimeout fires at once. */
const longestRest = 2 ** 31 - 1

/**
 * Runs turns with rests between them until stopped. A turn that throws is reported and retried with exponential backoff, which
 * wake() does not shorten.
 *
 * @param name identifies the loop in the event of a failed turn
 * @param turn does the pending work. Returns the milliseconds until the next turn; Infinity: rest until woken
 * @example createLoop('sweeper', async () => ((await sweep()) ? 0 : 1_000)).start()
 */
export function createLoop(name: string, turn: () => number | Promise<number>): Loop {
  let state: 'idle' | 'running' | 'stopped' = 'idle'
  let turning: Promise<void> | undefined
  let woken = false
  let failures = 0
  let timer: NodeJS.Timeout | undefined

  function run(): void {
    if (state !== 'running' || turning) return
    clock.clearTimeout(timer)
    woken = false
    turning = runTurn().then((restMs) => {
      turning = undefined
      if (state === 'running') scheduleNext(restMs)
    })
  }

  async function runTurn(): Promise<number> {
    try {
      const restMs = await turn()
      failures = 0
      return restMs
    } catch (error) {
      const restMs = retryIn(++failures, failureBackoff, 100)
      // StoreUnavailable. This folder knows no store.
      const unavailable = (error as { code?: unknown } | undefined)?.code === 'unavailable'
      emit('loop.failed', { loop: name, error: messageOf(error), inMs: restMs, failures, unavailable })
      return restMs
    }
  }

  function scheduleNext(ms: number): void {
    // setTimeout with 0 ms would wait for 1 ms.
    if ((woken && failures === 0) || ms <= 0) setImmediate(run)
    else if (ms !== Number.POSITIVE_INFINITY) timer = clock.setTimeout(run, Math.min(ms, longestRest))
  }

  return {
    start() {
      if (state !== 'idle') return
      state = 'running'
      run()
    },
    wake() {
      woken = true
      if (failures === 0) run()
    },
    async stop() {
      state = 'stopped'
      clock.clearTimeout(timer)
      await turning
    },
  }
}
