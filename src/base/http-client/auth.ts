// The authentication of our requests.

import type { ConnectionOptions } from './dispatcher.ts'
import { type OAuth2Options, oauth2Client } from './oauth2.ts'
import { createTokenCache } from './token-cache.ts'

export type AuthOptions =
  | { readonly kind: 'header'; readonly name: string; readonly value: string }
  | { readonly kind: 'basic'; readonly user: string; readonly password: string }
  | { readonly kind: 'bearer'; readonly token: string }
  | ({ readonly kind: 'oauth2' } & OAuth2Options)

export type AuthHeaders = Readonly<Record<string, string>>

export interface Auth {
  /** The headers for one request. Rejects with a TokenError if no token is available. */
  headers(): AuthHeaders | Promise<AuthHeaders>
  /** Reports that the server answered 401 to these headers. @returns whether to send the request again, with a new token */
  onRefused(headers: AuthHeaders): boolean
  /** Checks that a token can be fetched. Absent: only a request shows whether the credentials are right. */
  check?(): Promise<void>
  /** Texts that must be removed from an answer. */
  secrets(): readonly string[]
  close(): Promise<void>
}

/** @param connection how a token endpoint is reached */
export function createAuth(options: AuthOptions | undefined, connection: ConnectionOptions): Auth {
  switch (options?.kind) {
    case undefined:
      return fixedAuth({}, [])
    case 'header':
      return fixedAuth({ [options.name.toLowerCase()]: options.value }, [options.value])
    case 'basic': {
      const pair = Buffer.from(`${options.user}:${options.password}`).toString('base64')
      return fixedAuth({ authorization: `Basic ${pair}` }, [options.password, pair])
    }
    case 'bearer':
      return fixedAuth({ authorization: `Bearer ${options.token}` }, [options.token])
    case 'oauth2':
      return oauth2Auth(options, connection)
  }
}

function fixedAuth(headers: AuthHeaders, secrets: readonly string[]): Auth {
  return { headers: () => headers, onRefused: () => false, secrets: () => secrets, close: async () => {} }
}

function oauth2Auth(options: OAuth2Options, connection: ConnectionOptions): Auth {
  const client = oauth2Client(options, connection)
  const tokens = createTokenCache(client.fetch)
  const bearer = 'Bearer '
  let [last, previous] = ['', '']
  return {
    async headers() {
      const token = await tokens.get()
      if (token !== last) [last, previous] = [token, last]
      return { authorization: bearer + token }
    },
    onRefused({ authorization = '' }) {
      tokens.drop(authorization.slice(bearer.length))
      return true
    },
    check: async () => void (await client.fetch()),
    secrets: () => [options.clientSecret, last, previous],
    close: client.close,
  }
}
