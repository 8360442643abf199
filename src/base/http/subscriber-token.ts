import { errors, jwtVerify, SignJWT } from 'jose'
import { isPlain, mostText } from '../../contract/ids.ts'
import { clock } from '../runtime/clock.ts'

const audience = 'bellwire-app'
/** HS256 requires a key of at least 256 bits (RFC 7518 §3.2). */
const leastSecretBytes = 32
/** Longest lifetime of a token, also of one that another program signed. A revocation is kept for this time. */
export const longestTokenSeconds = 86_400
/** Accepted difference between clocks, in seconds. */
const clockTolerance = 5
/** A token of a later time of issue would outlive a revocation of its user. */
const mostAheadSeconds = 60

export interface Subscriber {
  readonly brand: string
  readonly userId: string
  /** Epoch milliseconds of `iat`; 0: the token does not say it, so it counts as older than any revocation. */
  readonly issuedAt: number
  /** Epoch milliseconds. */
  readonly expiresAt: number
}

/** The revoked tokens of users. */
export interface TokenRevocations {
  /** Whether the token was issued before its user's tokens were revoked. */
  isRevoked(token: Pick<Subscriber, 'brand' | 'userId' | 'issuedAt'>): boolean
  /** @param listener called after tokens were revoked, in any process */
  onChange(listener: () => void): void
}

/** The caller's token is invalid; `message` names the remedy. Answered 401. */
export class TokenRefused extends Error {
  override readonly name = 'TokenRefused'
  /** No secret signed the token: the caller may be guessing. */
  readonly unsigned: boolean
  constructor(message: string, { unsigned = false } = {}) {
    super(message)
    this.unsigned = unsigned
  }
}

/** @throws if there is no secret, or one is too short for HS256 */
export function checkSecrets(secrets: readonly string[]): void {
  if (secrets.length === 0)
    throw new Error('no secret for subscriber tokens: set app.secrets to one or two long random texts')
  for (const [index, secret] of secrets.entries()) {
    if (Buffer.byteLength(secret) >= leastSecretBytes) continue
    throw new Error(
      `app.secrets[${index}] has fewer than ${leastSecretBytes} bytes: make one with \`openssl rand -base64 32\``,
    )
  }
}

/**
 * Creates a token with which a user's browser or app can read the user's inbox of one brand (row 31) and link the user's devices.
 * The operator's backend creates it for a signed-in user. It is short-lived: on a 401, the page requests a new one.
 *
 * @example const token = await createSubscriberToken({ secret, brand: '1', userId: '1001' })
 */
export async function createSubscriberToken(options: {
  readonly secret: string
  readonly brand: string
  readonly userId: string
  readonly ttlSeconds?: number
  readonly now?: () => number
}): Promise<string> {
  const { secret, brand, userId, ttlSeconds = 600, now = clock.now } = options
  checkSecrets([secret])
  if (!(ttlSeconds <= longestTokenSeconds))
    throw new Error(`ttlSeconds is ${ttlSeconds}: a token is valid for at most ${longestTokenSeconds} seconds`)
  const issued = Math.floor(now() / 1000)
  return new SignJWT({ brand })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setSubject(userId)
    .setAudience(audience)
    .setIssuedAt(issued)
    .setExpirationTime(issued + ttlSeconds)
    .sign(Buffer.from(secret))
}

/**
 * Verifies a token and returns its user and brand. For rotation, several secrets can be valid: sign with the first.
 *
 * @throws TokenRefused
 * @example const { brand, userId } = await verifySubscriberToken(token, { secrets: [current, previous] })
 */
export async function verifySubscriberToken(
  token: string,
  options: { readonly secrets: readonly string[]; readonly now?: () => number },
): Promise<Subscriber> {
  const { secrets, now = clock.now } = options
  for (const secret of secrets) {
    try {
      const { payload } = await jwtVerify(token, Buffer.from(secret), {
        algorithms: ['HS256'],
        audience,
        requiredClaims: ['exp', 'sub', 'brand'],
        currentDate: new Date(now()),
        clockTolerance,
      })
      const { sub, brand, exp, iat } = payload
      if (!isId(sub) || !isId(brand) || exp === undefined)
        throw new TokenRefused(
          `the token must have the user in \`sub\` and the brand in \`brand\`, both as text of 1 to ${mostText} characters without control characters`,
        )
      const issued = Math.min(iat ?? Number.POSITIVE_INFINITY, now() / 1000)
      if (exp - issued > longestTokenSeconds + clockTolerance)
        throw new TokenRefused(
          'the token is valid for longer than 24 hours: set `exp` to at most 24 hours after `iat`, preferably a few minutes',
        )
      if (iat !== undefined && iat > now() / 1000 + mostAheadSeconds)
        throw new TokenRefused(
          `the token is from the future: its \`iat\` is more than ${mostAheadSeconds} s ahead. Set the clock of your backend`,
        )
      return { brand, userId: sub, issuedAt: (iat ?? 0) * 1000, expiresAt: exp * 1000 }
    } catch (error) {
      if (error instanceof errors.JWSSignatureVerificationFailed) continue
      throw refusal(error)
    }
  }
  throw new TokenRefused('the token was signed with another secret: your backend and `app.secrets` must share one', {
    unsigned: true,
  })
}

function refusal(error: unknown): TokenRefused {
  if (error instanceof TokenRefused) return error
  if (error instanceof errors.JWTExpired) {
    return new TokenRefused('the token has expired: get a new one from your backend and try again')
  }
  if (error instanceof errors.JWTClaimValidationFailed) {
    return new TokenRefused(
      `the token's claim \`${error.claim}\` is missing or wrong: it needs aud "${audience}", sub, brand and exp`,
    )
  }
  return new TokenRefused(
    'the token cannot be read: send a JWT signed with HS256, as `Authorization: Bearer <token>`',
    {
      unsigned: true,
    },
  )
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && isPlain(value, mostText)
}
