// The only place where the engine reads the time and starts timers (a lint rule checks it), so that a simulation can replace them.
// Functions of time take `now` as a parameter instead. Libraries (pg, undici, the brokers' clients) keep timers of their own.

const startedAt = Date.now() - performance.now()

/** Each function reads its global when it is called, so that the test runner's mocked timers work. */
export const clock = {
  /** Epoch milliseconds. Jumps when somebody sets the machine's clock: for moments that people or other machines read. */
  now: (): number => Date.now(),
  /** Milliseconds since an arbitrary start. Never jumps: for durations. */
  monotonic: (): number => performance.now(),
  /** Whole epoch milliseconds that never jump: the time of the start, plus the time since. For due times, also in the store. */
  steady: (): number => Math.floor(startedAt + performance.now()),
  setTimeout: (action: () => void, ms: number): NodeJS.Timeout => setTimeout(action, ms),
  setInterval: (action: () => void, ms: number): NodeJS.Timeout => setInterval(action, ms),
  clearTimeout: (timer: NodeJS.Timeout | undefined): void => clearTimeout(timer),
  clearInterval: (timer: NodeJS.Timeout | undefined): void => clearInterval(timer),
  /** A signal that aborts after this time. */
  timeout: (ms: number): AbortSignal => AbortSignal.timeout(ms),
}
