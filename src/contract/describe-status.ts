/**
 * The status of an answer, for people. Row 8: no redirect is followed, so its address is named, without its query, which may hold a
 * token.
 *
 * @param location the header Location
 * @example describeStatus(307, 'https://www.example.com/api?t=1') // '307, a redirect to https://www.example.com/api'
 */
export function describeStatus(status: number, location: unknown): string {
  if (status < 300 || status > 399 || typeof location !== 'string') return String(status)
  return `${status}, a redirect to ${location.replace(/[?#].*/s, '').slice(0, 200)}`
}
