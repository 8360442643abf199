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

const notOurs = 'do not correspond to the credentials used to create the subscriptions.'

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
  ...[
    [401, 'errno 109 of Mozilla', mozilla(401, 109)],
    [401, 'without a reason', ''],
    [403, 'BadJwtToken of Apple', '{"reason":"BadJwtToken"}'],
    [403, 'ExpiredJwtToken of Apple', '{"reason":"ExpiredJwtToken"}'],
    [400, 'BadJwtToken of Apple', '{"reason":"BadJwtToken"}'],
  ].map(
    ([status, words, body]) =>
      ({
        row: `${status} ${words}: our claims, key or clock`,
        status: Number(status),
        body: String(body),
        outcome: 'fatal',
        reason: 'misconfigured',
        token: 'kept',
      }) as const,
  ),
  ...[
    [400, 'VapidPkHashMismatch of Apple', '{"reason":"VapidPkHashMismatch"}'],
    [401, 'key mismatch of Mozilla', '{"code":401,"errno":109,"message":"VAPID public key mismatch"}'],
    [403, "other credentials of Google's", `the VAPID credentials in the authorization header ${notOurs}`],
    [400, 'UnauthorizedRegistration of Google', 'UnauthorizedRegistration'],
  ].map(
    ([status, words, body]) =>
      ({
        row: `${status} ${words}: the key of the subscription`,
        status: Number(status),
        body: String(body),
        outcome: 'fatal',
        reason: 'misconfigured',
        token: 'mismatch',
      }) as const,
  ),
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
