// Access tokens for FCM. They are fetched with an assertion signed by the service account (RFC 7523), cached, and renewed early.
// At most one fetch is in flight.

import { SignJWT } from 'jose'
import type { Dispatcher } from 'undici'
import type { Fatal } from '../../contract/outcome.ts'
import { retryAfterMs } from '../../contract/retry-after.ts'
import { shortened } from '../../contract/storable.ts'
import { clock } from '../../runtime/clock.ts'
import { openPool, openProxy } from '../../runtime/http1.ts'
import { objectIn } from '../../runtime/json.ts'
import { type Exchanged, exchange } from '../exchange.ts'
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
/** A token is renewed this long before it expires, or after half of its lifetime if that is shorter. */
const earlyMs = 5 * 60_000
/** After a refusal, get() repeats the refusal for this time, so that Google does not get a request for each message. */
const refusedForMs = 1_000

interface Fetched {
  readonly answer: { readonly token: string; readonly lifetimeMs: number } | Fatal
  readonly date?: unknown
}

export interface TokenConnection {
  readonly ca?: string | undefined
  readonly proxy?: string | undefined
}

export function createAccessTokens(account: ServiceAccount, connection: TokenConnection = {}): AccessTokens {
  const { client_email: email, private_key_id: kid, token_uri: uri = defaultTokenUri } = account
  const key = signingKey(account.private_key)
  const { origin, pathname, search } = new URL(uri)
  const dispatcher = openDispatcher(origin, connection)
  let current: { readonly token: string; readonly renewAt: number; readonly endsAt: number } | undefined
  let refused: { readonly fatal: Fatal; readonly until: number } | undefined
  let fetching: Promise<string | Fatal> | undefined
  let closing: Promise<void> | undefined

  async function fetchToken(): Promise<Fetched> {
    const assertion = await new SignJWT({ scope })
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(kid !== undefined && { kid }) })
      .setIssuer(email)
      .setAudience(uri)
      .setIssuedAt()
      .setExpirationTime('1h')
      .sign(key)
    const exchanged = await exchange(dispatcher, {
      origin,
      path: pathname + search,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: Buffer.from(`grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=${assertion}`),
      most: 64 * 1024,
      signal: clock.timeout(timeoutMs),
    })
    if ('lost' in exchanged) return { answer: notReached(exchanged) }
    const { status, headers, body } = exchanged
    const wait = retryAfterMs(headers['retry-after'], clock.now())
    return { answer: readTokenAnswer(status, removeSecrets(body.toString(), assertion), wait), date: headers.date }
  }

  async function renew(): Promise<string | Fatal> {
    const startedAt = clock.monotonic()
    const { answer } = await fetchToken()
    if ('category' in answer) {
      refused = { fatal: answer, until: clock.monotonic() + refusedForMs }
      return answer
    }
    const { token, lifetimeMs } = answer
    const early = Math.min(earlyMs, lifetimeMs / 2)
    current = { token, renewAt: startedAt + lifetimeMs - early, endsAt: startedAt + lifetimeMs - early / 10 }
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
      const now = clock.monotonic()
      if (current && now < current.renewAt) return current.token
      const waiting = refused && now < refused.until
      if (current && now < current.endsAt) {
        // A failure is ignored: the token is fetched again when the current one has expired.
        if (!waiting) fetchOnce().catch(() => {})
        return current.token
      }
      return waiting && refused ? Promise.resolve(refused.fatal) : fetchOnce()
    },
    drop(token) {
      if (current?.token === token) current = undefined
    },
    async check() {
      const { answer, date } = await fetchToken()
      return { ...('category' in answer && { refused: answer }), date }
    },
    async close() {
      closing ??= dispatcher.close()
      await closing
    },
  }
}

/** Reads an answer of the token endpoint. Our secrets have been removed from its body. */
export function readTokenAnswer(
  status: number,
  body: string,
  wait?: number,
): { readonly token: string; readonly lifetimeMs: number } | Fatal {
  const answer = objectIn(body) ?? {}
  if (status === 200 && typeof answer.access_token === 'string') {
    const seconds = typeof answer.expires_in === 'number' && answer.expires_in > 0 ? answer.expires_in : 3599
    return { token: answer.access_token, lifetimeMs: seconds * 1000 }
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

function openDispatcher(origin: string, { ca, proxy }: TokenConnection): Dispatcher {
  const tls = ca === undefined ? {} : { ca }
  if (proxy === undefined) return openPool(origin, { connections: 1, connect: tls })
  return openProxy({ uri: proxy, requestTls: tls })
}
