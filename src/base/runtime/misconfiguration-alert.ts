import { clock } from './clock.ts'
import { emit } from './events.ts'

/** A wrong key causes one alert per interval, not one for each attempt. */
const alertEveryMs = 60_000

/** Returns a function that alerts a person to an outcome that only a person can repair. */
export function createMisconfigurationAlert(
  provider: string,
  remedy: string,
): (outcome: { readonly category: string; readonly reason?: string; readonly error?: string }) => void {
  let alertedAt = Number.NEGATIVE_INFINITY
  return ({ category, reason, error = '' }) => {
    if (category !== 'fatal' || reason !== 'misconfigured' || clock.monotonic() - alertedAt < alertEveryMs) return
    alertedAt = clock.monotonic()
    emit('provider.alert', { provider, error, remedy })
  }
}
