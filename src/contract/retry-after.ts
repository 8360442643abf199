/**
 * Reads a Retry-After header: seconds, or an HTTP date if `now` (epoch milliseconds) is given. Undefined if the header is
 * missing, invalid or repeated; 0 for a date in the past. The result has no upper bound: the caller limits the wait.
 */
export function retryAfterMs(header: string | readonly string[] | undefined, now?: number): number | undefined {
  if (typeof header !== 'string') return undefined
  const text = header.trim()
  if (/^[0-9]{1,9}$/.test(text)) return Number(text) * 1000
  if (now === undefined || !/[A-Za-z]/.test(text)) return undefined
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}
