// The answers table of Web Push: for each status and body, the outcome and the verdict about the subscription.

export interface WebPushRow {
  readonly row: string
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string
  readonly outcome: 'successful' | 'failed' | 'fatal'
  readonly reason?: string
  readonly token: 'kept' | 'gone' | 'mismatch'
}

const mozilla = (code: number, errno: number): string => JSON.stringify({ code, errno, error: 'E', message: 'M' })

export const webPushRows: readonly WebPushRow[] = [
  { row: '201 accepted', status: 201, body: '', outcome: 'successful', token: 'kept' },
  { row: '200 accepted', status: 200, body: '', outcome: 'successful', token: 'kept' },
  { row: '202 accepted', status: 202, body: '', outcome: 'successful', token: 'kept' },
  {
    row: '301 redirect',
    status: 301,
    headers: { location: '/' },
    body: '',
    outcome: 'fatal',
    reason: 'nonsense',
    token: 'kept',
  },
  {
    row: '400 bad request',
    status: 400,
    body: mozilla(400, 111),
    outcome: 'failed',
    reason: 'rejected',
    token: 'kept',
  },
  {
    row: '401 VAPID',
    status: 401,
    body: mozilla(401, 109),
    outcome: 'fatal',
    reason: 'misconfigured',
    token: 'mismatch',
  },
  {
    row: '403 VAPID',
    status: 403,
    body: '{"reason":"BadJwtToken"}',
    outcome: 'fatal',
    reason: 'misconfigured',
    token: 'mismatch',
  },
  {
    row: '404 unknown endpoint',
    status: 404,
    body: mozilla(404, 102),
    outcome: 'failed',
    reason: 'rejected',
    token: 'gone',
  },
  { row: '406 throttled (WNS)', status: 406, body: '', outcome: 'fatal', reason: 'rate_limited', token: 'kept' },
  {
    row: '410 gone, errno 103',
    status: 410,
    body: mozilla(410, 103),
    outcome: 'failed',
    reason: 'rejected',
    token: 'gone',
  },
  {
    row: '410 gone, errno 105',
    status: 410,
    body: mozilla(410, 105),
    outcome: 'failed',
    reason: 'rejected',
    token: 'gone',
  },
  {
    row: '410 gone, errno 106',
    status: 410,
    body: mozilla(410, 106),
    outcome: 'failed',
    reason: 'rejected',
    token: 'gone',
  },
  { row: '413 too large', status: 413, body: mozilla(413, 104), outcome: 'failed', reason: 'too_large', token: 'kept' },
  {
    row: '429 rate',
    status: 429,
    headers: { 'retry-after': '7' },
    body: '',
    outcome: 'fatal',
    reason: 'rate_limited',
    token: 'kept',
  },
  { row: '500', status: 500, body: mozilla(500, 999), outcome: 'fatal', reason: 'unavailable', token: 'kept' },
  {
    row: '502, HTML',
    status: 502,
    body: '<html><h1>Bad Gateway</h1></html>',
    outcome: 'fatal',
    reason: 'unavailable',
    token: 'kept',
  },
  {
    row: '503 errno 201, back off',
    status: 503,
    headers: { 'retry-after': '7' },
    body: mozilla(503, 201),
    outcome: 'fatal',
    reason: 'unavailable',
    token: 'kept',
  },
  {
    row: '503 errno 202, at once',
    status: 503,
    body: mozilla(503, 202),
    outcome: 'fatal',
    reason: 'unavailable',
    token: 'kept',
  },
]
