import type { TestContext } from 'node:test'
import { clock } from '../../src/base/runtime/clock.ts'

export const hourMs = 3_600_000

interface Shift {
  /** By how much the machine's clock is ahead of the true time. */
  aheadMs: number
  /** By how much all clocks are ahead. */
  passedMs: number
  stoppedAt?: number
}

const shifts = new WeakMap<TestContext, Shift>()

/** A test replaces each clock once: of two replacements of a function, node:test would leave the first one behind. */
function shiftOf(t: TestContext): Shift {
  const known = shifts.get(t)
  if (known) return known
  const shift: Shift = { aheadMs: 0, passedMs: 0 }
  const { now, monotonic, steady } = clock
  t.mock.method(clock, 'now', () => now() + shift.aheadMs + shift.passedMs)
  t.mock.method(clock, 'monotonic', () => (shift.stoppedAt ?? monotonic()) + shift.passedMs)
  t.mock.method(clock, 'steady', () => steady() + shift.passedMs)
  shifts.set(t, shift)
  return shift
}

/** Sets the machine's clock, as this process sees it, until the test ends. A second call replaces the first. */
export function setClock(t: TestContext, aheadMs: number): void {
  shiftOf(t).aheadMs = aheadMs
}

/** Lets this much time pass at once, by every clock. Several calls add up. */
export function passTime(t: TestContext, ms: number): void {
  shiftOf(t).passedMs += ms
}

export interface StoppableClock {
  stop(): void
  /** Lets this much time pass at once while the clock is stopped. */
  pass(ms: number): void
}

/** Lets a test stop the monotonic clock. A side must start after this call, because it may keep the clock's function. */
export function stoppableClock(t: TestContext): StoppableClock {
  const shift = shiftOf(t)
  return {
    stop: () => (shift.stoppedAt = performance.now()),
    pass: (ms) => (shift.stoppedAt = (shift.stoppedAt ?? performance.now()) + ms),
  }
}
