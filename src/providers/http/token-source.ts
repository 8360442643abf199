// Caches an access token for all requests, and fetches a new one before it expires.

import { clock } from '../../runtime/clock.ts'

export interface FetchedToken {
  readonly token: string
  readonly lifeMs: number
}

export interface TokenSource {
  /** Returns a valid token. Rejects if none can be fetched. */
  get(): Promise<string>
  /** Discards a token that the provider refused. The next get() fetches another. */
  drop(token: string): void
}

/** A token is renewed this long before it expires, or after half of its lifetime if that is shorter. */
const earlyMs = 5 * 60_000
/** Pause after a failed renewal, while the old token is still valid. */
const retryAfterMs = 5_000

/**
 * @param fetch requests a token from the token endpoint; at most one call is in flight
 * @example const tokens = tokenSource(() => fetchToken(options)); await tokens.get()
 */
export function tokenSource(fetch: () => Promise<FetchedToken>, now: () => number = clock.monotonic): TokenSource {
  let current: { readonly token: string; readonly until: number; renewAt: number } | undefined
  let fetching: Promise<string> | undefined

  function renew(): Promise<string> {
    fetching ??= fetch()
      .then(({ token, lifeMs }) => {
        const time = now()
        current = { token, until: time + lifeMs, renewAt: time + lifeMs - Math.min(earlyMs, lifeMs / 2) }
        return token
      })
      .finally(() => {
        fetching = undefined
      })
    return fetching
  }

  return {
    async get() {
      const time = now()
      if (current === undefined || time >= current.until) return renew()
      if (time >= current.renewAt) {
        current.renewAt = time + retryAfterMs
        // The caller does not wait: the old token is still valid.
        renew().catch(() => {})
      }
      return current.token
    },
    drop(token) {
      if (current?.token === token) current = undefined
    },
  }
}
