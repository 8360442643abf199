// The four send endpoints (§4.1, §7.1, §7.2): they read messages from requests, and answer with the outcomes.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AcceptedKeys } from '../../base/http/accepted-keys.ts'
import { HttpError } from '../../base/http/http.ts'
import { clock } from '../../base/runtime/clock.ts'
import { emit } from '../../base/runtime/events.ts'
import { uuidv7 } from '../../base/runtime/ids.ts'
import { batchAnswer, batchRetryAfterSeconds, singleAnswer } from '../../contract/answer.ts'
import { sendPaths, trackingHeaders } from '../../contract/endpoints.ts'
import { messageKey } from '../../contract/message-key.ts'
import type { Fatal, Outcome } from '../../contract/outcome.ts'
import { type Activity, type ReadItem, readBatch, readSingle } from '../../contract/read-activity.ts'
import { refuseFailed, refuseFatal } from '../../contract/refusals.ts'
import type { SendPath } from '../../subjects/delivery/send-path.ts'
import type { Channel, Message, Part } from '../../subjects/providers/provider.ts'
import { authentication } from './authenticate.ts'
import { traceRequest } from './message-spans.ts'
import type { ApiKey, OperatorLimits } from './options.ts'
import { createSendLimits } from './send-limits.ts'

type Sender = Pick<SendPath, 'send' | 'refuse'>

export interface SendRoutes {
  readonly keys: AcceptedKeys<ApiKey>
  /** The send path of each channel; a channel without one answers 503. */
  readonly paths: { readonly [C in Channel]?: Sender | undefined }
  readonly limits: Pick<OperatorLimits, 'batchMax' | 'answerBudgetMs'>
  readonly signal: AbortSignal
}

export function sendRoutes(app: FastifyInstance, { keys, paths, limits, signal }: SendRoutes): void {
  const { onRequest, callerOf } = authentication(keys, 'send')
  const findExcess = createSendLimits()

  for (const channel of ['push', 'site'] as const) {
    app.post(sendPaths[channel].single, { onRequest }, async (request, reply) => {
      const key = callerOf(request)
      const path = getPath(channel)
      const read = readSingle(bodyOf(request))
      if ('invalid' in read) {
        emit('message.invalid', { channel, error: read.invalid, reportable: true })
        throw new HttpError(400, read.invalid)
      }
      emit('message.received', { channel, count: 1, mode: 'single' })
      const refused = refuseBrand(key, read)
      if (refused) return answerSingle(reply, channel, refused)
      const message = toMessage(channel, read, contextOf(request))
      const deadline = clock.now() + limits.answerBudgetMs
      const received = { path: sendPaths[channel].single, channel, parent: message.context.traceparent }
      const [outcome] = await traceRequest(received, [message], (traced) => send(path, key, traced, deadline))
      return answerSingle(reply, channel, outcome as Outcome)
    })

    app.post(sendPaths[channel].batch, { onRequest }, async (request, reply) => {
      const key = callerOf(request)
      const deadline = clock.now() + limits.answerBudgetMs
      const path = getPath(channel)
      const { ids, outcomes, messages, indexes } = readBatchRequest(channel, request, key, limits.batchMax)
      const received = { path: sendPaths[channel].batch, channel, parent: messages[0]?.context.traceparent }
      const sent = await traceRequest(received, messages, (traced) => send(path, key, traced, deadline))
      for (let n = 0; n < indexes.length; n++) outcomes[indexes[n] as number] = sent[n] as Outcome
      const retryAfterSeconds = batchRetryAfterSeconds(outcomes as readonly Outcome[])
      if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds))
      const items = ids.map((idJson, i) => ({ idJson, outcome: outcomes[i] as Outcome }))
      return reply.header('content-type', 'application/json; charset=utf-8').send(batchAnswer(channel, items))
    })
  }

  /** Sends the messages within the rate of the key. The others are refused, unless they were delivered before. */
  async function send(
    path: Sender,
    key: ApiKey,
    messages: readonly Message[],
    deadline: number,
  ): Promise<readonly Outcome[]> {
    const excess = findExcess(key, messages, clock.monotonic())
    if (!excess) return path.send(messages, { deadline })
    const { indexes, refusal } = excess
    const [sent, refused] = await Promise.all([
      path.send(
        messages.filter((_, i) => !indexes.has(i)),
        { deadline },
      ),
      path.refuse(
        messages.filter((_, i) => indexes.has(i)),
        refusal,
      ),
    ])
    const [nextSent, nextRefused] = [sent.values(), refused.values()]
    return messages.map((_, i) => (indexes.has(i) ? nextRefused : nextSent).next().value as Outcome)
  }

  function getPath(channel: Channel): Sender {
    if (signal.aborted) throw new HttpError(503, 'the server is stopping: repeat the request', 1)
    const path = paths[channel]
    if (path) return path
    // Not a 4xx: the platform would drop the messages for good.
    throw new HttpError(503, `no provider is configured for ${channel}: set operator.${channel} and restart`, 60)
  }
}

interface BatchRequest {
  /** `activity.id` of each item. */
  readonly ids: readonly (string | undefined)[]
  /** The outcome of each item that must not be sent. */
  readonly outcomes: (Outcome | undefined)[]
  readonly messages: readonly Message[]
  /** The index of each message among the items. */
  readonly indexes: readonly number[]
}

/** A function of its own, so that the parsed items are released before the route waits for the results. */
function readBatchRequest(channel: Channel, request: FastifyRequest, key: ApiKey, batchMax: number): BatchRequest {
  const read = readBatch(bodyOf(request))
  if ('invalid' in read) throw new HttpError(read.status, read.invalid)
  const { items } = read
  emit('message.received', { channel, count: items.length, mode: 'batch' })
  const context = contextOf(request)
  const whole = {}
  const ids = items.map(({ idJson }) => idJson)
  const outcomes = new Array<Outcome | undefined>(items.length).fill(undefined)
  const indexes: number[] = []
  for (let i = 0; i < items.length; i++) {
    const item = items[i] as ReadItem
    if ('invalid' in item) {
      emit('message.invalid', { channel, error: item.invalid, reportable: item.idJson !== undefined })
      outcomes[i] = refuseFailed('malformed', { error: item.invalid })
      continue
    }
    outcomes[i] = i >= batchMax ? beyondBatchMax(batchMax) : refuseBrand(key, item)
    if (!outcomes[i]) indexes.push(i)
  }
  // The identifiers of a brand follow one another, so that its outcomes are stored together (settle.ts).
  const byBrand = [...Map.groupBy(indexes, (i) => (items[i] as Activity).brandId).values()].flat()
  const messageOf = new Array<Message>(items.length)
  for (const [position, i] of byBrand.entries())
    messageOf[i] = toMessage(channel, items[i] as Activity, context, { of: whole, position })
  return { ids, outcomes, messages: indexes.map((i) => messageOf[i] as Message), indexes }
}

/** Row 31: a key gives access to its own brands only. The configuration may be wrong, so the message is fatal, not failed. */
function refuseBrand(key: ApiKey, activity: Activity): Fatal | undefined {
  if (key.brands.includes(activity.brandId)) return undefined
  const error = `the API key ${key.name} may not send for brand ${activity.brandId}: add the brand to the key, or use that brand's key`
  emit('provider.alert', { provider: `key ${key.name}`, error, remedy: 'operator.keys' })
  return refuseFatal('brand_of_another_key', { error })
}

const beyondBatchMax = (max: number): Fatal =>
  refuseFatal('batch_too_long', {
    error: `a batch has at most ${max} messages here: send the rest in another batch`,
  })

function toMessage(channel: Channel, activity: Activity, context: Message['context'], part?: Part): Message {
  return {
    brand: activity.brandId,
    channel,
    id: activity.id,
    userId: activity.userId,
    key: messageKey(channel, activity),
    ref: uuidv7(),
    text: activity.text,
    element: activity.element,
    attempt: 1,
    part,
    context,
  }
}

/** The headers of the request that are stored with each of its messages. */
function contextOf(request: FastifyRequest): Message['context'] {
  const tracking = trackingOf(request)
  const { traceparent } = request.headers
  return { ...(tracking && { tracking }), ...(typeof traceparent === 'string' && { traceparent }) }
}

function trackingOf({ headers }: FastifyRequest): Record<string, string> | undefined {
  const present = trackingHeaders.filter((name) => typeof headers[name] === 'string')
  return present.length === 0 ? undefined : Object.fromEntries(present.map((name) => [name, headers[name] as string]))
}

function bodyOf(request: FastifyRequest): Buffer {
  if (Buffer.isBuffer(request.body)) return request.body
  throw new HttpError(400, 'the body is empty: send one activity request record, or an array of them')
}

function answerSingle(reply: FastifyReply, channel: Channel, outcome: Outcome): FastifyReply {
  const { status, body, retryAfterSeconds } = singleAnswer(channel, outcome)
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds))
  return reply.code(status).header('content-type', 'application/json; charset=utf-8').send(body)
}
