// Sign-in by an OpenID provider: the authorization code flow with PKCE.

import type * as OpenId from 'openid-client'
import { HttpError } from '../../base/http/http-error.ts'
import { emit } from '../../base/runtime/events.ts'
import { messageOf } from '../../base/runtime/message-of.ts'
import { loadPackage } from '../../base/runtime/optional-package.ts'
import { summarizeRepeats } from '../../base/runtime/summarize-repeats.ts'

export interface OidcOptions {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  /** The claim that is the name of the person. */
  readonly claim: string
}

/** What the browser keeps, encrypted, until it returns. */
export type OidcAttempt = Readonly<Record<'state' | 'nonce' | 'verifier' | 'to', string>>

export interface Oidc {
  /** @returns the address of the provider, and the attempt */
  begin(redirectUri: string, to: string): Promise<{ readonly address: string; readonly attempt: OidcAttempt }>
  /** @param address with which the browser returned @returns the name of the person @throws HttpError 403, 503 */
  finish(address: URL, attempt: OidcAttempt): Promise<string>
}

export function createOidc({ issuer, clientId, clientSecret, claim }: OidcOptions): Oidc {
  const reportRefused = summarizeRepeats<string>(60_000, (_issuer, count, error) =>
    emit('console.sign_in_refused', { issuer, error, count }),
  )
  let discovered: Promise<OpenId.Configuration> | undefined
  const library = (): typeof OpenId => loadPackage<typeof OpenId>('openid-client', 'console.oidc')

  async function discover(): Promise<OpenId.Configuration> {
    const { allowInsecureRequests, discovery } = library()
    // `clear_text_to_other_hosts` refuses http to another machine, unless the configuration accepts the risk.
    const isClear = issuer.startsWith('http:')
    discovered ??= discovery(new URL(issuer), clientId, clientSecret, undefined, {
      ...(isClear && { execute: [allowInsecureRequests] }),
    })
    try {
      return await discovered
    } catch (error) {
      discovered = undefined
      throw new HttpError(503, `the OpenID provider ${issuer} does not answer: ${messageOf(error)}`, 5)
    }
  }

  return {
    async begin(redirectUri, to) {
      const { randomState, randomNonce, randomPKCECodeVerifier, calculatePKCECodeChallenge, buildAuthorizationUrl } =
        library()
      const attempt = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier(), to }
      const address = buildAuthorizationUrl(await discover(), {
        redirect_uri: redirectUri,
        scope: 'openid email profile',
        state: attempt.state,
        nonce: attempt.nonce,
        code_challenge: await calculatePKCECodeChallenge(attempt.verifier),
        code_challenge_method: 'S256',
      })
      return { address: address.href, attempt }
    },
    async finish(address, { state, nonce, verifier }) {
      const configuration = await discover()
      const { authorizationCodeGrant, fetchUserInfo } = library()
      const readClaims = async () => {
        const tokens = await authorizationCodeGrant(configuration, address, {
          pkceCodeVerifier: verifier,
          expectedState: state,
          expectedNonce: nonce,
          idTokenExpected: true,
        })
        const claims = tokens.claims()
        // Some providers have only `sub` in the ID token.
        return claims && !(claim in claims)
          ? await fetchUserInfo(configuration, tokens.access_token, claims.sub)
          : claims
      }
      const claims = await readClaims().catch((error: unknown) => {
        reportRefused(issuer, messageOf(error))
        throw new HttpError(403, 'the OpenID provider did not confirm the sign-in: begin it again')
      })
      const name = claims?.[claim]
      if (typeof name !== 'string' || name === '')
        throw new HttpError(403, `the OpenID provider gives no claim ${claim}: set oidc.claim to one that it gives`)
      if (claim === 'email' && claims?.email_verified === false)
        throw new HttpError(403, 'the OpenID provider has not verified your mail address')
      return name
    },
  }
}
