// The authentication of requests.

import { type OAuth2Options, oauth2Client } from './oauth2.ts'
import { signatureHeaders } from './standard-webhooks.ts'
import { tokenSource } from './token-source.ts'

export type AuthOptions =
  | { readonly kind: 'none' }
  | { readonly kind: 'header'; readonly name: string; readonly value: string }
  | { readonly kind: 'basic'; readonly user: string; readonly password: string }
  | { readonly kind: 'bearer'; readonly token: string }
  | ({ readonly kind: 'oauth2' } & OAuth2Options)
  /** A signature by the Standard Webhooks specification: whsec_ and base64. */
  | { readonly kind: 'standard-webhooks'; readonly secret: string }

export interface Auth {
  /** The headers for one request. Rejects with a TokenError if no token is available. */
  headers(request: {
    readonly id: string
    readonly body: string
    readonly now: number
  }): Promise<Record<string, string>>
  /** Reports that the provider answered 401 to these headers. @returns whether to send the request again, with a new token */
  onRefused(headers: Readonly<Record<string, string>>): boolean
  /** Checks that a token can be fetched. Absent: only a message shows whether the credentials are right. */
  check?(): Promise<void>
  /** Texts that must be removed from an answer. */
  secrets(): readonly string[]
  close(): Promise<void>
}

export function createAuth(options: AuthOptions): Auth {
  switch (options.kind) {
    case 'none':
      return fixedAuth({}, [])
    case 'header':
      return fixedAuth({ [options.name.toLowerCase()]: options.value }, [options.value])
    case 'basic': {
      const pair = Buffer.from(`${options.user}:${options.password}`).toString('base64')
      return fixedAuth({ authorization: `Basic ${pair}` }, [options.password, pair])
    }
    case 'bearer':
      return fixedAuth({ authorization: `Bearer ${options.token}` }, [options.token])
    case 'standard-webhooks':
      return {
        ...fixedAuth({}, [options.secret]),
        headers: async ({ id, body, now }) => signatureHeaders({ secret: options.secret, id, body, now }),
      }
    case 'oauth2':
      return oauth2Auth(options)
  }
}

function fixedAuth(headers: Record<string, string>, secrets: readonly string[]): Auth {
  return { headers: async () => headers, onRefused: () => false, secrets: () => secrets, close: async () => {} }
}

function oauth2Auth(options: OAuth2Options): Auth {
  const client = oauth2Client(options)
  const tokens = tokenSource(client.fetch)
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
