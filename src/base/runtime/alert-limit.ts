import { clock } from './clock.ts'

const everyMs = 3_600_000
/** Causes contain codes of answers, which are not trusted. */
const mostCauses = 20

export interface AlertLimit {
  /** Whether to alert now. If so, the cause is not due again for an hour. */
  isDue(cause: string): boolean
  /** After a recovery, each cause is due again. */
  clear(): void
}

/** Limits the alerts for outcomes that may concern thousands of messages: one alert an hour for each cause. */
export function createAlertLimit(): AlertLimit {
  const alerted = new Map<string, number>()
  return {
    isDue(cause) {
      const now = clock.monotonic()
      const last = alerted.get(cause)
      if (last === undefined ? alerted.size >= mostCauses : now - last < everyMs) return false
      alerted.set(cause, now)
      return true
    },
    clear: () => alerted.clear(),
  }
}
