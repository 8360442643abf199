// Keeps an access token, and renews it before it expires.

import { clock } from '../runtime/clock.ts'

export interface FetchedToken {
  readonly token: string
  readonly lifeMs: number
}

export interface TokenCache {
  /** The cached token, also while it is being renewed early, or the promise of a new one. Rejects if none can be fetched. */
  get(): string | Promise<string>
  /** Discards a token that was refused. The next get() fetches another. */
  drop(token: string): void
}

/** A token is renewed this long before it expires, or after half of its lifetime if that is shorter. */
const earlyMs = 5 * 60_000
/** After a failed fetch no other starts for this time, so that the token endpoint does not get a request for each message. */
const pauseMs = 1_000

/**
 * @param fetch requests a token from the token endpoint; at most one call is in flight
 * @example const tokens = createTokenCache(() => fetchToken(options)); await tokens.get()
 */
export function createTokenCache(
  fetch: () => Promise<FetchedToken>,
  now: () => number = () => clock.monotonic(),
): TokenCache {
  let current: { readonly token: string; readonly renewAt: number; readonly endsAt: number } | undefined
  let failed: { readonly error: unknown; readonly until: number } | undefined
  let fetching: Promise<string> | undefined

  async function renew(): Promise<string> {
    const startedAt = now()
    try {
      const { token, lifeMs } = await fetch()
      const early = Math.min(earlyMs, lifeMs / 2)
      current = { token, renewAt: startedAt + lifeMs - early, endsAt: startedAt + lifeMs - early / 10 }
      failed = undefined
      return token
    } catch (error) {
      failed = { error, until: now() + pauseMs }
      throw error
    } finally {
      fetching = undefined
    }
  }

  function fetchOnce(): Promise<string> {
    fetching ??= renew()
    return fetching
  }

  return {
    get() {
      const time = now()
      const isPaused = failed !== undefined && time < failed.until
      if (current && time < current.endsAt) {
        // A failure is ignored: the old token is still valid, and nobody waits for the new one.
        if (time >= current.renewAt && !isPaused) fetchOnce().catch(() => {})
        return current.token
      }
      return isPaused ? Promise.reject(failed?.error) : fetchOnce()
    },
    drop(token) {
      if (current?.token === token) current = undefined
    },
  }
}
