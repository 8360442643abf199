// Access tokens for FCM: fetched with an assertion that the service account signs (RFC 7523), kept, renewed early, by one at a time.

import { SignJWT } from 'jose'
import { Pool } from 'undici'
import type { Fatal } from '../../contract/outcome.ts'
import { retryAfterMs } from '../../contract/retry-after.ts'
import { shortened } from '../../contract/storable.ts'
import { objectIn } from '../../runtime/json.ts'
import { type Exchanged, exchange } from '../exchange.ts'
import { describeConnectionError, removeSecrets } from '../push-outcomes.ts'
import { defaultTokenUri, type ServiceAccount, signingKey } from './service-account.ts'

export interface AccessTokens {
  /** At once where there is one. While it is being renewed early, the old one serves. */
  get(): string | Promise<string | Fatal>
  /** This one was refused: the next get() fetches another. */
  drop(token: string): void
  /** Asks for a new one, for `bellwire doctor`. */
  ask(): Promise<{ readonly refused?: Fatal; readonly date?: unknown }>
  close(): Promise<void>
}

const scope = 'https://www.googleapis.com/auth/firebase.messaging'
const timeoutMs = 10_000
/** Renewed so long before its end, or at half of a shorter life. */
const earlyMs = 5 * 60_000
/** A refusal is repeated to all who ask within this time: Google is not asked for each message. */
const refusedForMs = 1_000

interface Fetched {
  readonly answer: { readonly token: string; readonly lifetimeMs: number } | Fatal
  readonly date?: unknown
}

export function createAccessTokens(account: ServiceAccount, ca?: string): AccessTokens {
  const { client_email: email, private_key_id: kid, token_uri: uri = defaultTokenUri } = account
  const key = signingKey(account.private_key)
  const { origin, pathname, search } = new URL(uri)
  const pool = new Pool(origin, { connections: 1, allowH2: false, connect: ca === undefined ? {} : { ca } })
  let held: { readonly token: string; readonly renewAt: number; readonly endsAt: number } | undefined
  let refused: { readonly fatal: Fatal; readonly until: number } | undefined
  let fetching: Promise<string | Fatal> | undefined

  async function fetchToken(): Promise<Fetched> {
    const assertion = await new SignJWT({ scope })
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(kid !== undefined && { kid }) })
      .setIssuer(email)
      .setAudience(uri)
      .setIssuedAt()
      .setExpirationTime('1h')
      .sign(key)
    const exchanged = await exchange(pool, {
      path: pathname + search,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: Buffer.from(`grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=${assertion}`),
      most: 64 * 1024,
      signal: AbortSignal.timeout(timeoutMs),
    })
    if ('lost' in exchanged) return { answer: notReached(exchanged) }
    const { status, headers, body } = exchanged
    const wait = retryAfterMs(headers['retry-after'], Date.now())
    return { answer: readTokenAnswer(status, removeSecrets(body.toString(), assertion), wait), date: headers.date }
  }

  async function renew(): Promise<string | Fatal> {
    const startedAt = Date.now()
    const { answer } = await fetchToken()
    if ('category' in answer) {
      refused = { fatal: answer, until: Date.now() + refusedForMs }
      return answer
    }
    const { token, lifetimeMs } = answer
    const early = Math.min(earlyMs, lifetimeMs / 2)
    held = { token, renewAt: startedAt + lifetimeMs - early, endsAt: startedAt + lifetimeMs - early / 10 }
    return token
  }

  function fetchOnce(): Promise<string | Fatal> {
    fetching ??= renew().finally(() => {
      fetching = undefined
    })
    return fetching
  }

  return {
    get() {
      const now = Date.now()
      if (held && now < held.renewAt) return held.token
      const waiting = refused && now < refused.until
      if (held && now < held.endsAt) {
        // Whatever comes of it is asked for again when this one has ended.
        if (!waiting) fetchOnce().catch(() => {})
        return held.token
      }
      return waiting && refused ? Promise.resolve(refused.fatal) : fetchOnce()
    },
    drop(token) {
      if (held?.token === token) held = undefined
    },
    async ask() {
      const { answer, date } = await fetchToken()
      return { ...('category' in answer && { refused: answer }), date }
    },
    close: async () => {
      if (!pool.closed && !pool.destroyed) await pool.close()
    },
  }
}

/** What the token endpoint's answer means. The body is Google's, without our secrets. */
export function readTokenAnswer(
  status: number,
  body: string,
  wait?: number,
): { readonly token: string; readonly lifetimeMs: number } | Fatal {
  const said = objectIn(body) ?? {}
  if (status === 200 && typeof said.access_token === 'string') {
    const seconds = typeof said.expires_in === 'number' && said.expires_in > 0 ? said.expires_in : 3599
    return { token: said.access_token, lifetimeMs: seconds * 1000 }
  }
  const ours = status >= 300 && status <= 499 && status !== 408 && status !== 429
  const code = typeof said.error === 'string' ? said.error : ''
  const why = typeof said.error_description === 'string' ? said.error_description : code
  return {
    category: 'fatal',
    reason: ours ? 'misconfigured' : status === 429 ? 'rate_limited' : status < 300 ? 'nonsense' : 'unavailable',
    blame: 'provider',
    rule: `fcm token ${status}${code && ` ${shortened(code, 50)}`}`,
    error: shortened(
      `fcm: Google gives out no access token (${status}${why && `: ${why}`})${ours ? `; ${remedyFor(why, code)}` : ''}`,
    ),
    // A body with a token in it is not one to write down.
    ...(status !== 200 && { answer: shortened(body) }),
    ...(wait !== undefined && { retryAfterMs: wait }),
  }
}

function remedyFor(why: string, code: string): string {
  if (/timeframe|iat and exp/i.test(why)) return "set this machine's clock"
  if (/account not found/i.test(why)) return 'the service account was deleted: make another one and its key'
  if (/signature/i.test(why)) return 'the key was deleted or is of another account: download a new one'
  if (code === '') return "check token_uri of the service account's file"
  return 'check that the service account is enabled and its key is not revoked'
}

function notReached({ lost }: Extract<Exchanged, { lost: Error }>): Fatal {
  return {
    category: 'fatal',
    reason: 'unavailable',
    blame: 'provider',
    rule: 'fcm token not reached',
    error: shortened(`fcm: the token endpoint is not reached: ${describeConnectionError(lost)}`),
  }
}
