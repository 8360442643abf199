// Web Push (RFC 8030, 8291, 8292) as a push service: one VAPID key pair reaches the browsers of all vendors.

import type { LookupFunction } from 'node:net'
import { notEncodable, streamReset } from '../../../base/http2/connection.ts'
import { clock } from '../../../base/runtime/clock.ts'
import { receiptToken } from '../../../contract/receipt-token.ts'
import { refuseFatal } from '../../../contract/refusals.ts'
import { collapseId } from '../collapse.ts'
import { messageOf } from '../lost.ts'
import type { SendContext } from '../provider.ts'
import { invalidMessage, type Lost, removeSecrets } from '../push-outcomes.ts'
import type { DeviceAnswer, Push, PushService } from '../push-service.ts'
import { checkWebPush } from './check.ts'
import { createEncryptor } from './encryptor.ts'
import { judgeRules, judgeUrl } from './judge-endpoint.ts'
import { createOrigins } from './origins.ts'
import { mostPayloadBytes, payloadOf, secondsLeft, type Urgency, urgencyOf } from './payload.ts'
import { readWebPushAnswer } from './read-answer.ts'
import { redactor } from './redactor.ts'
import { readEndpoint, readSubscription, type Subscription } from './subscription.ts'
import { judgeKeys, judgeSubject, type VapidKeys } from './vapid.ts'

export interface WebPushOptions extends VapidKeys {
  /** Name of the credential. Default: 'web-push'. */
  readonly name?: string
  /** Contact address for push services: mailto:ops@example.com or https://www.example.com. */
  readonly subject: string
  /** Apps whose devices are reached. Default: all. Set it if several sites have keys of their own. */
  readonly apps?: readonly string[]
  /** Hosts of further push services: 'push.example.com', '*.push.example.com', 'push.example.com:8443'. */
  readonly hosts?: readonly string[]
  /** Replacement origins of endpoints, for stand-ins and tests. Only these may have an address in this machine or its network. */
  readonly origins?: Readonly<Record<string, string>>
  /** Maximum number of sends in flight to one vendor's push service; to all together five times as many. Default: 100. */
  readonly concurrency?: number
  /** An HTTP proxy for all connections: http://user:password@proxy:3128. It must refuse internal addresses itself. */
  readonly proxy?: string | undefined
  /** Certificates to trust instead of the system's, as PEM. */
  readonly ca?: string
  /** Maximum number of sends in a second, in each process. Default: no limit. */
  readonly perSecond?: number | undefined
  /**
   * The address and the secret for reports of service workers: `{base_url}/app/receipts`, and the first of the operator's app.secrets.
   * Absent: payloads have no receipt token.
   */
  readonly receipts?: { readonly url: string; readonly secret: string } | undefined
  /** Name resolver. Default: the system's. Its addresses are checked too. */
  readonly lookup?: LookupFunction
}

/**
 * Sends to browsers. The payload is JSON, see payload.ts. `overrides: {"web-push": {"urgency": "high"}}` sets the urgency.
 *
 * @throws if keys, subject, hosts or origins are invalid
 * @example
 * const service = webPush({ publicKey: 'B…', privateKey: '…', subject: 'mailto:ops@example.com' })
 * await service.send({ ref, device: { kind: 'webpush', token: JSON.stringify(subscription), … }, content, expiresAt }, context)
 * // { category: 'successful', ref, rule: 'web-push 201', providerId: 'https://…' }
 */
export function webPush(options: WebPushOptions): PushService {
  const { name = 'web-push', apps, concurrency = 100 } = options
  const wrong = [judgeKeys(options), judgeSubject(options.subject), ...judgeRules(options)].filter(Boolean)
  if (wrong.length > 0) throw new Error(`${name}: ${wrong.join('; ')} (bellwire vapid generates a key pair)`)
  const origins = createOrigins({ ...options, vapid: options, concurrency })
  const encryptor = createEncryptor()
  let closed = false

  async function send(push: Push, context: SendContext): Promise<DeviceAnswer> {
    const { ref, device, content, expiresAt } = push
    const subscription = readSubscription(device.token)
    if ('error' in subscription) return unreadable(subscription.error)
    const refusal = judgeUrl(subscription.url, options)
    if (refusal !== undefined) return forbiddenEndpoint(refusal)
    const now = clock.now()
    if (subscription.expirationTime !== undefined && subscription.expirationTime <= now) return subscriptionExpired
    if (expiresAt <= now) return expired
    const urgency = urgencyOf(content)
    if (typeof urgency !== 'string') return invalid(urgency.error)
    const { receipts } = options
    const receipt = receipts && {
      url: receipts.url,
      token: receiptToken(receipts.secret, { brand: device.brand, ref }),
    }
    const payload = payloadOf(ref, content, { receipt, icon: push.presentation?.icon })
    if (payload.length > mostPayloadBytes) return tooLarge(payload.length)

    return deliver(push, subscription, payload, urgency, context)
  }

  async function deliver(
    { ref, expiresAt }: Push,
    { url, keys, ...subscription }: Subscription,
    payload: Buffer,
    urgency: Urgency,
    context: SendContext,
  ): Promise<DeviceAnswer> {
    const { origin, host } = url
    const encrypted = await encryptor.encrypt(payload, keys).catch((lost: Error) => ({ lost, written: false }))
    if (closed) return stopping
    const now = clock.now()
    const left = secondsLeft(expiresAt, now)
    if (left === undefined) return expired
    if ('lost' in encrypted) return lost(encrypted, context, host)
    if ('error' in encrypted) return unreadable(encrypted.error)
    const { body } = encrypted
    const vendor = origins.of(origin)
    const credential = vendor.authorization(now)
    const request = {
      path: url.pathname + url.search,
      headers: {
        'content-type': 'application/octet-stream',
        'content-encoding': 'aes128gcm',
        'content-length': String(body.length),
        ttl: String(left),
        urgency,
        topic: collapseId(ref, 32),
        authorization: credential,
      },
      body: Buffer.from(body.buffer, body.byteOffset, body.length),
    }
    const limited = vendor.answered ? context : { ...context, deadline: Math.min(context.deadline, now + unknownMs) }
    const answer = await vendor.post(request, limited)
    if ('lost' in answer) return lost(answer, limited, host)
    // The endpoint is a secret like a password, and push services often repeat it in their answers.
    const redactEndpoint = redactor({ url, keys, ...subscription })
    const [, token = ''] = /t=([^,]+)/.exec(credential) ?? []
    const redact = (text: string): string => removeSecrets(redactEndpoint(text), token)
    const { location, 'retry-after': retryAfter } = answer.headers
    const headers = { location: redact(String(location ?? '')) || undefined, 'retry-after': retryAfter }
    const read = readWebPushAnswer(answer.status, headers, redact(answer.body.toString()), clock.now(), host)
    return read.category === 'successful' ? { ...read, ref } : read
  }

  return {
    name,
    concurrency: mostHanging * concurrency,
    perCounterpart: concurrency,
    perSecond: options.perSecond,
    counterpartOf: ({ token }) => originOf(token),
    reaches: ({ kind, app }) => kind === 'webpush' && (apps === undefined || (app !== undefined && apps.includes(app))),
    send,
    check: () => checkWebPush(options),
    async close() {
      closed = true
      await Promise.all([encryptor.close(), origins.close()])
    },
  }
}

/** The time for an answer of a push service that has not answered yet: endpoints are user input. */
const unknownMs = 5_000
/** A push service that hangs has at most a fifth of the sends in flight. */
const mostHanging = 5

/** The push service of a subscription. Tokens that are no subscriptions have none. */
function originOf(token: string): string {
  const endpoint = readEndpoint(token)
  return 'error' in endpoint ? '' : endpoint.url.origin
}

/** The outcome without an answer. It concerns this push service only: those of other vendors may still work. */
function lost({ lost: error, written }: Lost, { signal, deadline }: SendContext, host: string): DeviceAnswer {
  // A request that cannot be encoded would fail again on every retry.
  if (error.code === notEncodable) return invalidMessage('web-push', error.message)
  const late = clock.now() >= deadline
  if (signal.aborted) return { ...stopping, ...(written && { uncertain: true }) }
  const inside = error.code === 'FORBIDDEN_ADDRESS'
  const text = inside ? error.message : messageOf(error)
  return {
    category: 'fatal',
    reason: late ? 'timeout' : 'unavailable',
    // The reset of one stream says nothing about the next stream.
    ...(error.code === streamReset ? { blame: 'message' } : ({ blame: 'provider', concerns: 'counterpart' } as const)),
    rule: `web-push ${inside ? 'forbidden address' : written ? 'answer lost' : 'no connection'}`,
    error: late
      ? `${host} did not answer in time; the message is sent again`
      : inside
        ? `${text}; check the name server, or, if this is intended, add the origin to origins`
        : `${host} cannot be reached (${text}); the message is sent again`,
    ...(written && { uncertain: true }),
  }
}

const stopping = refuseFatal('stopping', { error: 'this process is stopping; the message is sent again' })

const unreadable = (problem: string): DeviceAnswer => ({
  category: 'failed',
  reason: 'rejected',
  token: 'mismatch',
  rule: 'web-push unreadable subscription',
  error: `the device's token is not a PushSubscription: ${problem}; link the browser's JSON.stringify(subscription) unchanged`,
})

// The token is kept, because a wrong setting may be the cause.
const forbiddenEndpoint = (refusal: string): DeviceAnswer => ({
  category: 'failed',
  reason: 'rejected',
  rule: 'web-push endpoint not allowed',
  error: `nothing is sent to this subscription: ${refusal}`,
})

const subscriptionExpired: DeviceAnswer = {
  category: 'failed',
  reason: 'rejected',
  token: 'gone',
  rule: 'web-push subscription expired',
  error: 'the subscription has expired; the page has to subscribe again',
}

const expired: DeviceAnswer = {
  category: 'failed',
  reason: 'expired',
  rule: 'web-push message expired',
  error: 'the message expired before it could be sent; give it a longer lifetime',
}

const invalid = (error: string): DeviceAnswer => ({
  category: 'failed',
  reason: 'invalid',
  rule: 'web-push overrides',
  error,
})

const tooLarge = (bytes: number): DeviceAnswer => ({
  category: 'failed',
  reason: 'too_large',
  rule: 'web-push payload',
  error: `the payload for the browser has ${bytes} bytes, and the maximum is ${mostPayloadBytes}; shorten its body or data`,
})
