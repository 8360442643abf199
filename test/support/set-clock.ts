import type { TestContext } from 'node:test'
import { clock } from '../../src/base/runtime/clock.ts'

export const hourMs = 3_600_000

/** Sets the machine's clock, as this process sees it, until the test ends. A second call replaces the first. */
export function setClock(t: TestContext, aheadMs: number): void {
  t.mock.method(clock, 'now', () => Date.now() + aheadMs)
}

const passed = new WeakMap<TestContext, { ms: number }>()

/** Lets this much time pass at once, by every clock. Several calls add up. */
export function passTime(t: TestContext, ms: number): void {
  const before = passed.get(t)
  if (before) {
    before.ms += ms
    return
  }
  const ahead = { ms }
  passed.set(t, ahead)
  for (const name of ['now', 'monotonic', 'steady'] as const) {
    const read = clock[name]
    t.mock.method(clock, name, () => read() + ahead.ms)
  }
}

export interface StoppableClock {
  stop(): void
  /** Lets this much time pass at once while the clock is stopped. */
  pass(ms: number): void
}

/** Lets a test stop the monotonic clock. A side must start after this call, because it may keep the clock's function. */
export function stoppableClock(t: TestContext): StoppableClock {
  let stoppedAt: number | undefined
  t.mock.method(clock, 'monotonic', () => stoppedAt ?? performance.now())
  return {
    stop: () => (stoppedAt = performance.now()),
    pass: (ms) => (stoppedAt = (stoppedAt ?? performance.now()) + ms),
  }
}
