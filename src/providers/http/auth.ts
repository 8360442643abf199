// How a request says who sends it.

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
  /** The headers for one request; rejects with a TokenError where there is no token to be had. */
  headers(request: {
    readonly id: string
    readonly body: string
    readonly now: number
  }): Promise<Record<string, string>>
  /** The provider answered 401. @returns whether it is worth trying once again, with a new token */
  refused(headers: Readonly<Record<string, string>>): boolean
  /** A token can be had; absent: only a message shows whether the credentials are right. */
  check?(): Promise<void>
  /** Texts that must not be repeated from an answer. */
  secrets(): readonly string[]
  close(): Promise<void>
}

export function createAuth(options: AuthOptions): Auth {
  switch (options.kind) {
    case 'none':
      return fixed({}, [])
    case 'header':
      return fixed({ [options.name.toLowerCase()]: options.value }, [options.value])
    case 'basic': {
      const pair = Buffer.from(`${options.user}:${options.password}`).toString('base64')
      return fixed({ authorization: `Basic ${pair}` }, [options.password, pair])
    }
    case 'bearer':
      return fixed({ authorization: `Bearer ${options.token}` }, [options.token])
    case 'standard-webhooks':
      return {
        ...fixed({}, [options.secret]),
        headers: async ({ id, body, now }) => signatureHeaders({ secret: options.secret, id, body, now }),
      }
    case 'oauth2':
      return oauth2(options)
  }
}

function fixed(headers: Record<string, string>, secrets: readonly string[]): Auth {
  return { headers: async () => headers, refused: () => false, secrets: () => secrets, close: async () => {} }
}

function oauth2(options: OAuth2Options): Auth {
  const client = oauth2Client(options)
  const tokens = tokenSource(client.fetch)
  const bearer = 'Bearer '
  let [last, before] = ['', '']
  return {
    async headers() {
      const token = await tokens.get()
      if (token !== last) [last, before] = [token, last]
      return { authorization: bearer + token }
    },
    refused({ authorization = '' }) {
      tokens.drop(authorization.slice(bearer.length))
      return true
    },
    check: async () => void (await client.fetch()),
    secrets: () => [options.clientSecret, last, before],
    close: client.close,
  }
}
