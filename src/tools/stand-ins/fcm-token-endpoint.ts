// A stand-in of oauth2.googleapis.com/token: issues access tokens for assertions signed by service accounts (RFC 7523).

import { generateKeyPairSync, type KeyObject, type KeyPairKeyObjectResult, randomBytes, randomUUID } from 'node:crypto'
import { decodeJwt, errors, jwtVerify } from 'jose'
import type { Certificate } from './certificate.ts'
import { createFaults, type Fault } from './faults.ts'
import { type Answer, openPushServer, type Request } from './push-server.ts'

/** The JSON file of a service account, as downloaded from the Firebase console. */
export interface ServiceAccountJson {
  readonly type: 'service_account'
  readonly project_id: string
  readonly private_key_id: string
  readonly private_key: string
  readonly client_email: string
  readonly token_uri: string
}

export interface TokenEndpoint {
  readonly uri: string
  /** Number of received requests. */
  readonly requests: number
  /** Makes a service account of a project. */
  account(projectId: string): ServiceAccountJson
  /** Deletes a service account: its assertions and its access tokens are refused from now on. */
  remove(account: Pick<ServiceAccountJson, 'client_email'>): void
  /** The project for which an access token was issued. Undefined if the token is not valid. */
  projectOf(accessToken: string): string | undefined
  /** Revokes all access tokens issued so far. */
  revoke(): void
  play(fault: Fault): () => void
  close(): Promise<void>
}

const scope = 'https://www.googleapis.com/auth/firebase.messaging'
const grantType = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

/** The n-th account of each endpoint has the n-th pair: a new pair costs 100 ms of processor time. */
const keyPairs: KeyPairKeyObjectResult[] = []
function keyPair(place: number): KeyPairKeyObjectResult {
  const made = keyPairs[place] ?? generateKeyPairSync('rsa', { modulusLength: 2048 })
  keyPairs[place] = made
  return made
}

export async function listenTokenEndpoint(options: {
  readonly port: number
  readonly certificate: Certificate | undefined
  readonly clock: () => number
  readonly lifetimeSeconds: number
}): Promise<TokenEndpoint> {
  const { port, certificate, clock, lifetimeSeconds } = options
  const accounts = new Map<string, { readonly projectId: string; readonly publicKey: KeyObject }>()
  const issued = new Map<string, { readonly email: string; readonly expiresAt: number }>()
  const faults = createFaults()
  let requests = 0
  let accountsMade = 0

  async function grant({ method, path, body }: Request): Promise<Answer> {
    if (method !== 'POST' || path !== '/token') return answer(404, { error: 'not_found' })
    const form = new URLSearchParams(body.toString())
    if (form.get('grant_type') !== grantType)
      return refuse('unsupported_grant_type', `Invalid grant_type: ${form.get('grant_type')}`)
    const assertion = form.get('assertion') ?? ''
    try {
      const { iss: email = '' } = decodeJwt(assertion)
      const account = accounts.get(email)
      if (!account) return refuse('invalid_grant', 'Invalid grant: account not found')
      const { payload } = await jwtVerify(assertion, account.publicKey, {
        algorithms: ['RS256'],
        audience: uri,
        requiredClaims: ['iat', 'exp', 'scope'],
        currentDate: new Date(clock()),
      })
      const { iat = 0, exp = 0 } = payload
      if (exp - iat > 3600 || Math.abs(iat - clock() / 1000) > 300) return refuse('invalid_grant', timeframe)
      if (payload.scope !== scope) return refuse('invalid_scope', 'Invalid OAuth scope or ID token audience provided.')
      const accessToken = `ya29.${randomBytes(48).toString('base64url')}`
      issued.set(accessToken, { email, expiresAt: clock() + lifetimeSeconds * 1000 })
      return answer(200, { access_token: accessToken, expires_in: lifetimeSeconds, token_type: 'Bearer' })
    } catch (error) {
      if (error instanceof errors.JWTExpired) return refuse('invalid_grant', timeframe)
      if (error instanceof errors.JWTClaimValidationFailed) {
        return refuse('invalid_grant', `Invalid JWT: ${error.claim} is wrong.`)
      }
      if (error instanceof errors.JOSEError) return refuse('invalid_grant', 'Invalid JWT Signature.')
      throw error
    }
  }

  const { url, close } = await openPushServer({
    port,
    certificate,
    versions: 'http1',
    faults,
    tokenOf: () => '',
    serve: grant,
    onArrival: () => requests++,
  })
  const uri = `${url}/token`

  return {
    uri,
    get requests() {
      return requests
    },
    account(projectId) {
      const { privateKey, publicKey } = keyPair(accountsMade++)
      const email = `stand-in-${randomBytes(4).toString('hex')}@${projectId}.iam.gserviceaccount.com`
      accounts.set(email, { projectId, publicKey })
      return {
        type: 'service_account',
        project_id: projectId,
        private_key_id: randomUUID().replaceAll('-', ''),
        private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
        client_email: email,
        token_uri: uri,
      }
    },
    projectOf(accessToken) {
      const token = issued.get(accessToken)
      return token && token.expiresAt > clock() ? accounts.get(token.email)?.projectId : undefined
    },
    remove: ({ client_email: email }) => void accounts.delete(email),
    revoke: () => issued.clear(),
    play: faults.play,
    close,
  }
}

const timeframe =
  'Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values in the JWT claim.'

const refuse = (error: string, description: string): Answer => answer(400, { error, error_description: description })

function answer(status: number, body: object): Answer {
  const headers = { 'content-type': 'application/json' }
  return { status, headers, body: JSON.stringify(body), accepted: status === 200 }
}
