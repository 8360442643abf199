import { retryIn } from './backoff.ts'
import { emit } from './events.ts'

export interface LoopOptions {
  /** For the event when a turn fails. */
  readonly name: string
  /** Does what there is to do now, and says how many milliseconds to rest; Infinity: until woken. */
  readonly turn: () => number | Promise<number>
}

export interface Loop {
  start(): void
  /** Ends the rest. During a turn: another one follows at once. */
  wake(): void
  /** Resolves when the running turn has ended; no other follows. */
  stop(): Promise<void>
}

const afterFailure = { firstMs: 100, mostMs: 5_000 }
/** Beyond this, setTimeout fires at once. */
const longestRest = 2 ** 31 - 1

/**
 * Turn, rest, turn, until stopped. A turn that throws is reported and repeated after a growing rest, which a wake does
 * not shorten: what fails is not hammered.
 *
 * @example
 * const sweeper = createLoop({ name: 'sweeper', turn: async () => ((await sweep()) ? 0 : 1_000) })
 * sweeper.start()
 */
export function createLoop({ name, turn }: LoopOptions): Loop {
  let state: 'idle' | 'running' | 'stopped' = 'idle'
  let turning: Promise<void> | undefined
  let woken = false
  let failures = 0
  let timer: NodeJS.Timeout | undefined

  function run(): void {
    if (state !== 'running' || turning) return
    clearTimeout(timer)
    woken = false
    turning = take().then((restMs) => {
      turning = undefined
      if (state === 'running') rest(restMs)
    })
  }

  async function take(): Promise<number> {
    try {
      const restMs = await turn()
      failures = 0
      return restMs
    } catch (error) {
      const restMs = retryIn(++failures, afterFailure, 100)
      emit('loop.failed', { loop: name, error: error instanceof Error ? error.message : String(error), inMs: restMs })
      return restMs
    }
  }

  function rest(ms: number): void {
    // A timer of 0 would be one of 1 ms.
    if ((woken && failures === 0) || ms <= 0) setImmediate(run)
    else if (ms !== Number.POSITIVE_INFINITY) timer = setTimeout(run, Math.min(ms, longestRest))
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
      clearTimeout(timer)
      await turning
    },
  }
}
