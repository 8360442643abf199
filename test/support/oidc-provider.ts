// A real OpenID provider (oidc-provider) with one client. Its own pages ask for the name of the person, and for consent.

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
// @ts-expect-error: the package has no types
import { Provider } from 'oidc-provider'

export const oidcClient = { clientId: 'bellwire', clientSecret: 'the-secret-of-the-client' } as const

/**
 * The name that a person types becomes the mail address. A name with `unverified` has an address that is not verified.
 *
 * @returns the issuer. Its host is `localhost`, another site than 127.0.0.1
 */
export async function startOidcProvider(t: TestContext, redirectUri: string): Promise<string> {
  const server = createServer((request, response) => void handle(request, response))
  server.listen(0, 'localhost')
  await once(server, 'listening')
  t.after(() => server.closeAllConnections())
  t.after(() => server.close())
  const issuer = `http://localhost:${(server.address() as AddressInfo).port}`
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: oidcClient.clientId,
        client_secret: oidcClient.clientSecret,
        redirect_uris: [redirectUri],
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    cookies: { keys: ['a-key-of-the-cookies'] },
    async findAccount(_context: unknown, sub: string) {
      const claims = async () => ({ sub, email: `${sub}@example.com`, email_verified: !sub.includes('unverified') })
      return { accountId: sub, claims }
    },
  })
  const handle = provider.callback()
  return issuer
}
