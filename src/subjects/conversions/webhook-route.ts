// Row 24: the route at which operators report delivery statuses. A call is signed by the Standard Webhooks scheme; the secret
// decides which lanes it may change.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { addressOf, networkOf } from '../../base/http/address.ts'
import { createAuthentication } from '../../base/http/authentication.ts'
import { HttpError } from '../../base/http/http-error.ts'
import type { BodyShare } from '../../base/http/request-bodies.ts'
import { addRoute } from '../../base/http/route.ts'
import { createWrongKeys, type WrongKeys } from '../../base/http/wrong-keys.ts'
import { brandOf } from '../../base/queue/lane-name.ts'
import { clock } from '../../base/runtime/clock.ts'
import { json } from '../../contract/documents/described.ts'
import { messageStatusPath } from '../../contract/endpoints.ts'
import { StatusAnswer } from '../../contract/status-answer.ts'
import { MessageStatusBody, mostStatusBytes, readStatusBody } from '../../contract/status-record.ts'
import { webhookHeaderProblem, webhookKey, webhookProblem } from '../../contract/webhook-signature.ts'
import type { StatusIntake } from './status-intake.ts'
import { StatusesFull } from './status-quota.ts'

/** A secret, and the lanes whose statuses it may report. */
export interface StatusSecret {
  readonly key: Buffer
  readonly lanes: readonly string[]
}

/** The secrets of these lanes. Lanes of the same operator may have the same secret. */
export function statusSecrets(
  lanes: readonly { readonly name: string; readonly secrets: readonly string[] }[],
): readonly StatusSecret[] {
  const named = lanes.flatMap(({ name, secrets }) => secrets.map((secret) => ({ name, secret })))
  return [...Map.groupBy(named, ({ secret }) => secret)].map(([secret, own]) => {
    const key = webhookKey(secret)
    if (key === undefined) throw new Error(`the webhook secret of ${own[0]?.name} is not valid`)
    return { key, lanes: [...new Set(own.map(({ name }) => name))] }
  })
}

/** A secret of operators is tried only if the call may be signed with it: `?brand=1` in the address names a brand of its lanes. */
const Query = Type.Object({
  brand: Type.Optional(Type.String({ description: 'A brand of the operator. Only its secrets are then tried.' })),
})

/** Strangers reach this route, since the signature covers the body. Those of one address have a quarter of the default share. */
const bodies: BodyShare = {
  name: 'statuses',
  perCaller: { bytes: 2 * mostStatusBytes, callerOf: ({ raw }) => networkOf(addressOf(raw)) },
}

/**
 * 200 with `{accepted, parked}` once the records are on disk, 400 for an unreadable body, 401 for a wrong signature.
 *
 * @param secrets the present secrets of the lanes
 */
export function statusWebhookRoute(
  app: FastifyInstance,
  { secrets, intake }: { readonly secrets: () => readonly StatusSecret[]; readonly intake: StatusIntake },
): void {
  const wrongSignatures = createWrongKeys()
  addRoute(
    app,
    {
      method: 'POST',
      url: messageStatusPath,
      says: 'Stores the delivery statuses of messages: one record, or an array of records.',
      query: Query,
      bodies: json(MessageStatusBody),
      gives: StatusAnswer,
      async handler(request, candidates) {
        const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
        const signed = await signersOf(candidates, request, body)
        const lanes = [...new Set(signed.flatMap((each) => each.lanes))]
        // The body was hashed once for each secret.
        const verdict = wrongSignatures.judge(addressOf(request.raw), lanes[0], candidates.length)
        if (verdict === 'wait') throw tooManyWrong()
        if (verdict === 'wrong')
          throw unauthorized('the signature does not match: check the secret, and sign the body as it is sent', {
            counted: true,
          })
        const records = readStatusBody(body)
        if (typeof records === 'string') throw new HttpError(400, records)
        const { accepted, parked } = await intake.storeStatuses(records, lanes, 'webhook').catch(refuseFull)
        return { accepted, parked: parked.length }
      },
    },
    { ...authenticate(secrets, wrongSignatures), bodyLimit: mostStatusBytes, config: { bodies } },
  )
}

/**
 * Refuses a call before its body is read, unless one of the secrets may have signed it.
 *
 * @returns the secrets to try as the caller
 */
const authenticate = (secretsNow: () => readonly StatusSecret[], wrongSignatures: WrongKeys) =>
  createAuthentication((request) => {
    const secrets = secretsNow()
    if (secrets.length === 0) throw new HttpError(404, 'this path does not exist: no lane has status.secrets')
    const problem = webhookHeaderProblem(request.headers, clock.now())
    if (problem !== undefined) throw unauthorized(problem)
    const { brand } = request.query as { readonly brand?: unknown }
    const candidates =
      brand === undefined ? secrets : secrets.filter(({ lanes }) => lanes.some((lane) => brandOf(lane) === brand))
    if (candidates.length === 0)
      throw unauthorized(`no lane of the brand in the address has a webhook secret, so the call cannot be signed`)
    if (wrongSignatures.isExhausted(addressOf(request.raw))) throw tooManyWrong()
    return candidates
  }, 'anybody')

/** @returns the secrets that signed the call */
async function signersOf(
  secrets: readonly StatusSecret[],
  { headers }: Pick<FastifyRequest, 'headers'>,
  body: Uint8Array,
): Promise<readonly StatusSecret[]> {
  const now = clock.now()
  const signed: StatusSecret[] = []
  for (const secret of secrets) {
    if (webhookProblem([secret.key], headers, body, now) === undefined) signed.push(secret)
    // Each hash covers the whole body: other requests are served between two hashes.
    if (secrets.length > 1) await new Promise((resolve) => setImmediate(resolve))
  }
  return signed
}

function refuseFull(error: unknown): never {
  if (error instanceof StatusesFull) throw new HttpError(503, error.message, fullRetryAfterSeconds)
  throw error
}

const fullRetryAfterSeconds = 60

const unauthorized = (message: string, options = {}): HttpError => new HttpError(401, message, undefined, options)

const tooManyWrong = (): HttpError =>
  new HttpError(503, 'too many wrong signatures from this address: retry later', 1, { counted: true })
