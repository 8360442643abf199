const longestMs = 30_000

/** The delay before the next attempt: doubled for each failure, with jitter, so that clients do not return all at once. */
export function delayAfter(failures: number, firstMs: number, retryAfterMs: number): number {
  const backoff = Math.min(firstMs * 2 ** Math.max(0, failures - 1), longestMs)
  return Math.max(backoff * (0.5 + Math.random() / 2), retryAfterMs)
}

/** Waits for the delay. Ends early if the signal aborts, if the device is online again, or if the user returns to the page. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const ended = new AbortController()
    const end = (): void => {
      clearTimeout(timer)
      ended.abort()
      resolve()
    }
    const timer = setTimeout(end, ms)
    const options = { signal: ended.signal }
    addEventListener('online', end, options)
    document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && end(), options)
    signal.addEventListener('abort', end, options)
    if (signal.aborted) end()
  })
}
