// An access token that is fetched once for all who need it, and anew before it expires.

export interface FetchedToken {
  readonly token: string
  readonly lifeMs: number
}

export interface TokenSource {
  /** A token that is good for a while. Rejects where none can be had. */
  get(): Promise<string>
  /** The provider refused this one: the next get() fetches another. */
  drop(token: string): void
}

/** Fetched anew so long before the end, at the latest when half of its life is over. */
const earlyMs = 5 * 60_000
/** A fetch that failed is not repeated before, as long as the old token is still good. */
const restMs = 5_000

/**
 * @param fetch asks the token endpoint; never called while another call of it is under way
 * @example const tokens = tokenSource(() => fetchToken(options)); await tokens.get()
 */
export function tokenSource(fetch: () => Promise<FetchedToken>, clock: () => number = Date.now): TokenSource {
  let held: { readonly token: string; readonly until: number; renewAt: number } | undefined
  let fetching: Promise<string> | undefined

  function renew(): Promise<string> {
    fetching ??= fetch()
      .then(({ token, lifeMs }) => {
        const now = clock()
        held = { token, until: now + lifeMs, renewAt: now + lifeMs - Math.min(earlyMs, lifeMs / 2) }
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
      if (held === undefined || now >= held.until) return renew()
      if (now >= held.renewAt) {
        held.renewAt = now + restMs
        // Nobody waits for it: the old one is still good.
        renew().catch(() => {})
      }
      return held.token
    },
    drop(token) {
      if (held?.token === token) held = undefined
    },
  }
}
