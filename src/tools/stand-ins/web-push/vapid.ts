import { createPublicKey, verify } from 'node:crypto'

export interface Refusal {
  readonly status: number
  /** Error number of Mozilla's push service. */
  readonly errno: number
  readonly message: string
}

export interface VapidCheck {
  /** The origin of the endpoint. */
  readonly audience: string
  /** The applicationServerKey with which the subscription was made. Absent: every server may send to it. */
  readonly key?: string | undefined
  /** Epoch milliseconds. */
  readonly now: number
}

const dayMs = 24 * 3_600_000

/** Checks an Authorization header by RFC 8292. Undefined if it is valid. */
export function refuseVapid(header: string | undefined, { audience, key, now }: VapidCheck): Refusal | undefined {
  if (header === undefined) return key === undefined ? undefined : unauthorized('the Authorization header is missing')
  const { t: token = '', k = '' } = Object.fromEntries(
    [...header.matchAll(/(?:^vapid +|, *)([tk])=([A-Za-z0-9_.-]+)/gi)].map(([, name, value]) => [name, value]),
  )
  const claims = readToken(token, k)
  if (typeof claims === 'string') return unauthorized(claims)
  const { aud, exp, sub } = claims
  if (aud !== audience) return unauthorized('aud is not the origin of the endpoint')
  if (typeof exp !== 'number' || exp * 1_000 <= now) return unauthorized('exp has passed')
  if (exp * 1_000 > now + dayMs) return unauthorized('exp is more than 24 hours away')
  if (typeof sub !== 'string' || !/^(mailto:|https:)./.test(sub))
    return unauthorized('sub is neither mailto: nor https:')
  if (key !== undefined && k !== key) return { status: 403, errno: 109, message: otherKey }
  return undefined
}

function readToken(token: string, key: string): Readonly<Record<string, unknown>> | string {
  try {
    const [head = '', claims = '', signature = ''] = token.split('.')
    if ((json(head) as { alg?: unknown }).alg !== 'ES256') return 'alg is not ES256'
    const point = Buffer.from(key, 'base64url')
    const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((half) => half.toString('base64url')) as [
      string,
      string,
    ]
    const signer = createPublicKey({ format: 'jwk', key: { kty: 'EC', crv: 'P-256', x, y } })
    const signed = verify(
      'sha256',
      Buffer.from(`${head}.${claims}`),
      { key: signer, dsaEncoding: 'ieee-p1363' },
      Buffer.from(signature, 'base64url'),
    )
    return signed ? (json(claims) as Record<string, unknown>) : 'the signature does not match the key'
  } catch {
    return 'the header cannot be read as vapid t=…, k=…'
  }
}

const json = (part: string): unknown => JSON.parse(Buffer.from(part, 'base64url').toString())

const unauthorized = (message: string): Refusal => ({ status: 401, errno: 109, message })

/** In Google's words. */
const otherKey =
  'the VAPID credentials in the authorization header do not correspond to the credentials used to create the subscriptions.'
