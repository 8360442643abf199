// Access tokens for FCM. They are fetched with an assertion signed by the service account (RFC 7523).

import { SignJWT } from 'jose'
import { type ConnectionOptions, createCaller } from '../../../base/http-client/caller.ts'
import type { Exchanged } from '../../../base/http-client/exchange.ts'
import { createTokenCache } from '../../../base/http-client/token-cache.ts'
import { clock } from '../../../base/runtime/clock.ts'
import { objectIn } from '../../../base/runtime/json.ts'
import type { Fatal } from '../../../contract/outcome.ts'
import { retryAfterMs } from '../../../contract/retry-after.ts'
import { shortened } from '../../../contract/storable.ts'
import { describeConnectionError, removeSecrets } from '../push-outcomes.ts'
import { defaultTokenUri, type ServiceAccount, signingKey } from './service-account.ts'

export interface AccessTokens {
  /** Returns the cached token, also while it is being renewed early, or the promise of a new one. */
  get(): string | Promise<string | Fatal>
  /** Discards a token that FCM refused. The next get() fetches another. */
  drop(token: string): void
  /** Fetches a token for `bellwire doctor`. */
  check(): Promise<{ readonly refused?: Fatal; readonly date?: unknown }>
  close(): Promise<void>
}

const scope = 'https://www.googleapis.com/auth/firebase.messaging'
const timeoutMs = 10_000

interface Fetched {
  readonly answer: { readonly token: string; readonly lifeMs: number } | Fatal
  readonly date?: unknown
}

/** No token could be fetched. */
class TokenRefused extends Error {
  readonly fatal: Fatal

  constructor(fatal: Fatal) {
    super(fatal.error)
    this.fatal = fatal
  }
}

export function createAccessTokens(account: ServiceAccount, connection: ConnectionOptions = {}): AccessTokens {
  const { client_email: email, private_key_id: kid, token_uri: uri = defaultTokenUri } = account
  const key = signingKey(account.private_key)
  const caller = createCaller({ url: uri, connections: 1, ...connection })
  const tokens = createTokenCache(async () => {
    const { answer } = await fetchToken()
    if ('category' in answer) throw new TokenRefused(answer)
    return answer
  })

  async function fetchToken(): Promise<Fetched> {
    const assertion = await new SignJWT({ scope })
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(kid !== undefined && { kid }) })
      .setIssuer(email)
      .setAudience(uri)
      .setIssuedAt()
      .setExpirationTime('1h')
      .sign(key)
    const exchanged = await caller.call({
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=${assertion}`,
      most: 64 * 1024,
      deadline: clock.now() + timeoutMs,
    })
    if ('lost' in exchanged) return { answer: notReached(exchanged) }
    const { status, headers, body } = exchanged
    const wait = retryAfterMs(headers['retry-after'], clock.now())
    return { answer: readTokenAnswer(status, removeSecrets(body.toString(), assertion), wait), date: headers.date }
  }

  return {
    get() {
      const token = tokens.get()
      if (typeof token === 'string') return token
      return token.catch((error: unknown) => {
        if (error instanceof TokenRefused) return error.fatal
        throw error
      })
    },
    drop: tokens.drop,
    async check() {
      const { answer, date } = await fetchToken()
      return { ...('category' in answer && { refused: answer }), date }
    },
    close: caller.close,
  }
}

/** Reads an answer of the token endpoint. Our secrets have been removed from its body. */
export function readTokenAnswer(
  status: number,
  body: string,
  wait?: number,
): { readonly token: string; readonly lifeMs: number } | Fatal {
  const answer = objectIn(body) ?? {}
  if (status === 200 && typeof answer.access_token === 'string') {
    const seconds = typeof answer.expires_in === 'number' && answer.expires_in > 0 ? answer.expires_in : 3599
    return { token: answer.access_token, lifeMs: seconds * 1000 }
  }
  const ours = status >= 300 && status <= 499 && status !== 408 && status !== 429
  const code = typeof answer.error === 'string' ? answer.error : ''
  const problem = typeof answer.error_description === 'string' ? answer.error_description : code
  return {
    category: 'fatal',
    reason: ours ? 'misconfigured' : status === 429 ? 'rate_limited' : status < 300 ? 'nonsense' : 'unavailable',
    blame: 'provider',
    rule: `fcm token ${status}${code && ` ${shortened(code, 50)}`}`,
    error: shortened(
      status < 300
        ? `fcm: the token endpoint answered ${status} without an access token, so it is not Google's; check token_uri in the service account's file, and proxies in between`
        : `fcm: Google issued no access token (${status}${problem && `: ${problem}`})${ours ? `; ${remedyFor(problem, code)}` : ''}`,
    ),
    // The body of a 200 may contain a token, so it is not stored.
    ...(status !== 200 && { answer: shortened(body) }),
    ...(wait !== undefined && { retryAfterMs: wait }),
  }
}

function remedyFor(problem: string, code: string): string {
  if (/timeframe|iat and exp/i.test(problem)) return "set this machine's clock"
  if (/account not found/i.test(problem)) return 'the service account was deleted: create a new one with a key'
  if (/signature/i.test(problem)) return 'the key was deleted or belongs to another account: download a new one'
  if (code === '') return "check token_uri in the service account's file"
  return 'check that the service account is enabled and its key is not revoked'
}

function notReached({ lost }: Extract<Exchanged, { lost: Error }>): Fatal {
  return {
    category: 'fatal',
    reason: 'unavailable',
    blame: 'provider',
    rule: 'fcm token not reached',
    error: shortened(`fcm: the token endpoint cannot be reached: ${describeConnectionError(lost)}`),
  }
}
