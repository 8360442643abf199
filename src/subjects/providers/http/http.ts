// The general HTTP provider, in its two modes: a message is sent to a user's id, or to a device's token.

import { createHash } from 'node:crypto'
import { createAlertLimit } from '../../../base/runtime/alert-limit.ts'
import { clock } from '../../../base/runtime/clock.ts'
import { emit } from '../../../base/runtime/events.ts'
import { withDefaults } from '../../../base/runtime/present.ts'
import {
  type ContentMapping,
  defaultContentMapping,
  readPushContent,
  textMissingAt,
} from '../../../contract/content.ts'
import type { Fatal } from '../../../contract/outcome.ts'
import { readSingle } from '../../../contract/read-activity.ts'
import { expiryOf } from '../expiry.ts'
import type { Message, Provider, Result, SendContext } from '../provider.ts'
import type { DeviceAnswer, PushService } from '../push-service.ts'
import type { HttpOptions } from './options.ts'
import { createSender, type Overrides, type TemplateRequest } from './sender.ts'
import { piecesOf } from './template.ts'
import { type Delivery, valuesOf } from './values.ts'

export interface HttpProviderOptions extends HttpOptions {
  /** Places of the content in a request element (row 4). */
  readonly content?: Partial<ContentMapping>
  /** Lifetime of a message, from its first attempt. Default: 24 hours. */
  readonly lifetimeMs?: number
}

const dayMs = 24 * 3_600_000

/**
 * Sends each message to its user's id, for providers that have the operator's users themselves. No devices are registered.
 *
 * @example
 * httpProvider({ preset: 'onesignal', secrets: [{ name: 'app_id', value: '…' }, { name: 'api_key', value: '…' }] })
 * @example
 * httpProvider({
 *   url: 'https://push.example/users/{{user_id}}/messages',
 *   auth: { kind: 'bearer', token: '…' },
 *   body: { id: '{{push_id}}', title: '{{title}}', text: '{{body}}', ttl: '{{ttl_seconds}}' },
 *   rules: [{ when: { status: 404 }, means: 'gone' }],
 * })
 */
export function httpProvider(options: HttpProviderOptions): Provider {
  const { lifetimeMs = dayMs, userId = '{{user_id}}' } = options
  const mapping = withDefaults(defaultContentMapping, options.content)
  const sender = createSender(options, 'user')
  const { name } = sender
  const alerts = createAlertLimit()

  async function sendOne(message: Message, context: SendContext): Promise<Result> {
    const activity = readSingle(message.text)
    const content = readPushContent(message.text, mapping, message.element)
    if ('invalid' in activity) return invalid(name, activity.invalid)
    if ('error' in content) return invalid(name, content.error)
    const expiresAt = expiryOf(message.ref, content, lifetimeMs)
    if (clock.now() >= expiresAt) return expired(name)
    const { ref, brand } = message
    const delivery = { ref, deliveryId: ref, brand, userId: userOf(message, userId), content, expiresAt, activity }
    const {
      providerId: _,
      token: __,
      goneSince: ___,
      ...result
    } = await sender.send(requestOf(delivery, overridesFor(content.overrides, name)), context)
    if (result.category === 'fatal' && result.reason === 'misconfigured') alert(result)
    const missing = textMissingAt(content, mapping)
    return missing ? { ...result, textMissingAt: missing } : result
  }

  function alert({ rule, error }: Fatal): void {
    if (!alerts.isDue(rule)) return
    emit('provider.alert', { provider: name, error, remedy: 'check operator.push; bellwire doctor checks it too' })
  }

  return {
    name,
    max: 1,
    callsPerSecond: options.perSecond,
    send: (messages, context) => Promise.all(messages.map((message) => sendOne(message, context))),
    check: sender.check,
    close: sender.close,
  }
}

/**
 * Reaches one device of the kind `http:NAME` by its token.
 *
 * @example
 * httpService({
 *   name: 'expo', url: 'https://exp.host/--/api/v2/push/send',
 *   body: { to: '{{token}}', title: '{{title}}', body: '{{body}}', data: '{{data}}', expiration: '{{expires_at_seconds}}' },
 *   rules: [{ when: { body_path: '/data/details/error', equals: 'DeviceNotRegistered' }, means: 'gone' },
 *           { when: { status: 200, body_path: '/data/status', equals: 'error' }, means: 'failed' }],
 *   id: '/data/id',
 * })
 */
export function httpService(options: HttpOptions): PushService {
  const sender = createSender(options, 'device')
  const { name, concurrency } = sender
  return {
    name,
    concurrency,
    perSecond: options.perSecond,
    reaches: ({ kind }) => kind === `http:${name}`,
    async send({ ref, device, content, expiresAt }, context): Promise<DeviceAnswer> {
      if (clock.now() >= expiresAt) return expired(name)
      const { brand, userId, token, app } = device
      const delivery = {
        ref,
        deliveryId: idFor(ref, token),
        brand,
        userId,
        token,
        content,
        expiresAt,
        ...(app && { app }),
      }
      return sender.send(requestOf(delivery, overridesFor(content.overrides, name)), context)
    },
    check: sender.check,
    close: sender.close,
  }
}

function requestOf(delivery: Delivery, overrides: Overrides | undefined): TemplateRequest {
  const { ref, deliveryId: id } = delivery
  return { values: valuesOf(delivery, clock.now()), overrides, ref, id, hidden: privateOf(delivery) }
}

/** Texts of a request that must not appear in evidence and logs if an answer repeats them: token, content and user id. */
function privateOf({ token = '', userId, content }: Delivery): readonly string[] {
  // A short id could be a part of other numbers.
  const { title = '', body = '', data = '' } = content
  return [token, title, body, data, userId.length >= 8 ? userId : '']
}

/** The provider's id of the user. */
function userOf({ userId, brand }: Message, template: string): string {
  const values: Readonly<Record<string, string>> = { user_id: userId, brand }
  return piecesOf(template)
    .map((piece) => (typeof piece === 'string' ? piece : (values[piece.name] ?? '')))
    .join('')
}

/** The id of a request: a UUID derived from message and device. It differs between devices and is the same on every attempt. */
function idFor(ref: string, token: string): string {
  const hex = createHash('sha256').update(`${ref}\n${token}`).digest('hex')
  const variant = '89ab'.charAt(Number.parseInt(hex.charAt(16), 16) & 3)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

function overridesFor(all: Readonly<Record<string, Overrides>> | undefined, name: string): Overrides | undefined {
  return all?.[`http:${name}`] ?? all?.http
}

function invalid(name: string, error: string): Result {
  return { category: 'failed', reason: 'invalid', rule: `${name}: unreadable`, error }
}

function expired(name: string): Result {
  return {
    category: 'failed',
    reason: 'expired',
    rule: `${name}: expired`,
    error: `${name}: not sent, because the message's lifetime has ended`,
  }
}
