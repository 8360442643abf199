// Row 24: the route at which operators report delivery statuses. A call is signed by the Standard Webhooks scheme; the secret
// decides which lanes it may change.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { json } from '../contract/documents/described.ts'
import { messageStatusPath } from '../contract/endpoints.ts'
import { StatusAnswer } from '../contract/status-answer.ts'
import { MessageStatusBody, mostStatusBytes, readStatusBody } from '../contract/status-record.ts'
import { webhookHeaders, webhookKey, webhookProblem } from '../contract/webhook-signature.ts'
import { createAuthentication } from '../http/authentication.ts'
import { HttpError } from '../http/http-error.ts'
import { addRoute } from '../http/route.ts'
import { clock } from '../runtime/clock.ts'
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

/** 200 with `{accepted, parked}` once the records are on disk, 400 for an unreadable body, 401 for a wrong signature. */
export function statusWebhookRoute(
  app: FastifyInstance,
  { secrets, intake }: { readonly secrets: readonly StatusSecret[]; readonly intake: StatusIntake },
): void {
  addRoute(
    app,
    {
      method: 'POST',
      url: messageStatusPath,
      says: 'Stores the delivery statuses of messages: one record, or an array of records.',
      bodies: json(MessageStatusBody),
      gives: StatusAnswer,
      async handler(request) {
        const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
        const lanes = lanesOfCall(secrets, request, body)
        const records = readStatusBody(body)
        if (typeof records === 'string') throw new HttpError(400, records)
        const { accepted, parked } = await intake.take(records, lanes, 'webhook').catch(refuseFull)
        return { accepted, parked: parked.length }
      },
    },
    { ...demandHeaders, bodyLimit: mostStatusBytes },
  )
}

/** Refuses a call without a signature before its body is read. The signature itself covers the body. */
const demandHeaders = createAuthentication((request) => {
  const missing = Object.values(webhookHeaders).filter((name) => typeof request.headers[name] !== 'string')
  if (missing.length === 0) return request
  throw unauthorized(`the call is not signed: send ${missing.join(', ')}, by the Standard Webhooks scheme`)
})

/** The lanes of all secrets that signed the call. @throws HttpError 401 */
function lanesOfCall(
  secrets: readonly StatusSecret[],
  { headers }: FastifyRequest,
  body: Uint8Array,
): readonly string[] {
  const now = clock.now()
  const judged = secrets.map(({ key, lanes }) => ({ lanes, problem: webhookProblem([key], headers, body, now) }))
  const signed = judged.filter(({ problem }) => problem === undefined)
  if (signed.length > 0) return [...new Set(signed.flatMap(({ lanes }) => lanes))]
  throw unauthorized(judged[0]?.problem ?? 'the platform has no webhook secret: set status.webhook_secrets of the lane')
}

function refuseFull(error: unknown): never {
  if (error instanceof StatusesFull) throw new HttpError(503, error.message, fullRetryAfterSeconds)
  throw error
}

const fullRetryAfterSeconds = 60

const unauthorized = (message: string): HttpError => new HttpError(401, message, undefined, { counted: true })
