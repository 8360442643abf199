// The client credentials grant of OAuth 2.0 (RFC 6749 §4.4).

import { rootCertificates } from 'node:tls'
import { clock } from '../runtime/clock.ts'
import { objectIn } from '../runtime/json.ts'
import { type ConnectionOptions, openDispatcher } from './dispatcher.ts'
import { exchange } from './exchange.ts'
import type { FetchedToken } from './token-cache.ts'

export interface OAuth2Options {
  readonly tokenUrl: string
  readonly clientId: string
  readonly clientSecret: string
  readonly scope?: string
  readonly audience?: string
  /** Place of the client id and secret: an Authorization header (the default), or the form. */
  readonly credentials?: 'header' | 'form'
}

/** No access token could be fetched. */
export class TokenError extends Error {
  /** True if our credentials were refused, false if the token endpoint could not answer. */
  readonly refused: boolean

  constructor(message: string, refused: boolean) {
    super(message)
    this.refused = refused
  }
}

const timeoutMs = 10_000
const mostBytes = 64 * 1024

/**
 * A client of the token endpoint, which is reached like the address that the token is for. The certificates of the system are
 * trusted too: the token endpoint is often a public service. `fetch` rejects with a TokenError, whose text contains no secrets.
 */
export function oauth2Client(
  { tokenUrl, clientId, clientSecret, scope, audience, credentials }: OAuth2Options,
  { ca, ...connection }: ConnectionOptions = {},
): {
  fetch(): Promise<FetchedToken>
  close(): Promise<void>
} {
  const form = new URLSearchParams({ grant_type: 'client_credentials' })
  if (scope !== undefined) form.set('scope', scope)
  if (audience !== undefined) form.set('audience', audience)
  const headers: Record<string, string> = {
    'content-type': 'application/x-www-form-urlencoded',
    accept: 'application/json',
  }
  if (credentials === 'form') {
    form.set('client_id', clientId)
    form.set('client_secret', clientSecret)
  } else {
    const pair = `${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`
    headers.authorization = `Basic ${Buffer.from(pair).toString('base64')}`
  }
  const trusted = ca === undefined ? {} : { ca: [ca, rootCertificates].flat() }
  const { origin, pathname, search, host } = new URL(tokenUrl)
  const dispatcher = openDispatcher(origin, { connections: 1, ...connection, ...trusted })
  let closing: Promise<void> | undefined
  return {
    async fetch() {
      const answer = await exchange(dispatcher, {
        origin,
        method: 'POST',
        path: pathname + search,
        headers,
        body: form.toString(),
        most: mostBytes,
        signal: clock.timeout(timeoutMs),
      })
      if ('lost' in answer) throw new TokenError(`the token endpoint ${host} does not answer`, false)
      const { status } = answer
      if (status !== 200) {
        const refused = status >= 400 && status < 500 && ![408, 425, 429].includes(status)
        const remedy = refused ? ': check token_url, client_id, client_secret and scope' : ''
        throw new TokenError(`the token endpoint ${host} answered ${status}${remedy}`, refused)
      }
      const { access_token: token, expires_in: seconds } = objectIn(answer.body.toString()) ?? {}
      if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token))
        throw new TokenError(`the token endpoint ${host} answered without an access_token: check token_url`, true)
      // expires_in is optional (RFC 6749 §5.1). The usual lifetime is one hour.
      const life = typeof seconds === 'string' ? Number(seconds) : seconds
      return { token, lifeMs: typeof life === 'number' && life > 0 ? life * 1000 : 3_600_000 }
    },
    close: () => {
      closing ??= dispatcher.destroy()
      return closing
    },
  }
}
