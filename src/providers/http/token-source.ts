// Caches an access token for all requests, and fetches a new one before it expires.

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
export function tokenSource(fetch: () => Promise<FetchedToken>, clock: () => number = Date.now): TokenSource {
  let current: { readonly token: string; readonly until: number; renewAt: number } | undefined
  let fetching: Promise<string> | undefined

  function renew(): Promise<string> {
    fetching ??= fetch()
      .then(({ token, lifeMs }) => {
        const now = clock()
        current = { token, until: now + lifeMs, renewAt: now + lifeMs - Math.min(earlyMs, lifeMs / 2) }
        return token
      })
      .finally(() => {
        fetching = undefined
      })
    return fetching
  }

  return {
    async get() {
      const now = clock()
      if (current === undefined || now >= current.until) return renew()
      if (now >= current.renewAt) {
        current.renewAt = now + retryAfterMs
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
