// The answers table of Web Push: for each status and body, the outcome and the verdict about the subscription.

import type { Row } from '../suites/push-service.ts'

const successful = { category: 'successful' } as const
const rejected = { category: 'failed', reason: 'rejected' } as const
const misconfigured = { category: 'fatal', reason: 'misconfigured', blame: 'provider' } as const
const limited = { category: 'fatal', reason: 'rate_limited', blame: 'message' } as const
const away = { category: 'fatal', reason: 'unavailable', blame: 'provider' } as const
const nonsense = { category: 'fatal', reason: 'nonsense', blame: 'message' } as const

const mozilla = (code: number, errno: number): string => JSON.stringify({ code, errno, error: 'E', message: 'M' })

const notOurs = 'do not correspond to the credentials used to create the subscriptions.'
const soon = { 'retry-after': '7' }

export const webPushRows: readonly Row[] = [
  { row: '201 accepted', status: 201, body: '', outcome: successful },
  { row: '200 accepted', status: 200, body: '', outcome: successful },
  { row: '202 accepted', status: 202, body: '', outcome: successful },
  { row: '301 redirect', status: 301, headers: { location: '/' }, body: '', outcome: nonsense },
  { row: '400 bad request', status: 400, body: mozilla(400, 111), outcome: rejected },
  ...(
    [
      [401, 'errno 109 of Mozilla', mozilla(401, 109)],
      [401, 'without a reason', ''],
      [403, 'BadJwtToken of Apple', '{"reason":"BadJwtToken"}'],
      [403, 'ExpiredJwtToken of Apple', '{"reason":"ExpiredJwtToken"}'],
      [400, 'BadJwtToken of Apple', '{"reason":"BadJwtToken"}'],
    ] as const
  ).map(([status, words, body]): Row => {
    const row = `${status} ${words}: our claims, key or clock`
    return { row, status, body, outcome: misconfigured }
  }),
  ...(
    [
      [400, 'VapidPkHashMismatch of Apple', '{"reason":"VapidPkHashMismatch"}'],
      [401, 'key mismatch of Mozilla', '{"code":401,"errno":109,"message":"VAPID public key mismatch"}'],
      [403, "other credentials of Google's", `the VAPID credentials in the authorization header ${notOurs}`],
      [400, 'UnauthorizedRegistration of Google', 'UnauthorizedRegistration'],
    ] as const
  ).map(([status, words, body]): Row => {
    const row = `${status} ${words}: the key of the subscription`
    return { row, status, body, outcome: misconfigured, token: 'mismatch' }
  }),
  { row: '404 unknown endpoint', status: 404, body: mozilla(404, 102), outcome: rejected, token: 'gone' },
  { row: '406 throttled (WNS)', status: 406, body: '', outcome: limited },
  ...[103, 105, 106].map((errno): Row => {
    const body = mozilla(410, errno)
    return { row: `410 gone, errno ${errno}`, status: 410, body, outcome: rejected, token: 'gone' }
  }),
  { row: '413 too large', status: 413, body: mozilla(413, 104), outcome: { category: 'failed', reason: 'too_large' } },
  { row: '429 rate', status: 429, headers: soon, body: '', outcome: { ...limited, retryAfterMs: 7_000 } },
  { row: '500', status: 500, body: mozilla(500, 999), outcome: away },
  { row: '502, HTML', status: 502, body: '<html><h1>Bad Gateway</h1></html>', outcome: away },
  {
    row: '503 errno 201, back off',
    status: 503,
    headers: soon,
    body: mozilla(503, 201),
    outcome: { ...away, retryAfterMs: 7_000 },
  },
  { row: '503 errno 202, at once', status: 503, body: mozilla(503, 202), outcome: away },
]
