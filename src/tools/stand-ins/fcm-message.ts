// Validates the body of messages:send like FCM. Pure.

import { objectIn } from '../../base/runtime/json.ts'

/** A fault of a body: the field, and its description. */
export interface Violation {
  readonly field: string
  readonly description: string
}

export interface FcmMessage {
  readonly token?: string
  readonly fid?: string
  readonly topic?: string
  readonly condition?: string
  readonly notification?: { readonly title?: string; readonly body?: string; readonly image?: string }
  readonly data?: Readonly<Record<string, string>>
  readonly android?: {
    readonly ttl?: string
    readonly collapse_key?: string
    readonly notification?: {
      readonly tag?: string
      readonly title?: string
      readonly body?: string
      readonly image?: string
    }
  }
}

export interface FcmRequest {
  readonly validateOnly: boolean
  readonly message: FcmMessage
}

type Shape = 'text' | 'texts' | 'any' | 'duration' | 'priority' | { readonly [field: string]: Shape }

const image = 'text'
const webLink = 'text'
const shape: { readonly [field: string]: Shape } = {
  name: 'text',
  token: 'text',
  fid: 'text',
  topic: 'text',
  condition: 'text',
  data: 'texts',
  notification: { title: 'text', body: 'text', image },
  fcm_options: { analytics_label: 'text' },
  android: {
    collapse_key: 'text',
    priority: 'priority',
    ttl: 'duration',
    restricted_package_name: 'text',
    data: 'texts',
    direct_boot_ok: 'any',
    fcm_options: { analytics_label: 'text' },
    // About thirty fields, which are not checked.
    notification: 'any',
  },
  apns: {
    headers: 'texts',
    payload: 'any',
    live_activity_token: 'text',
    fcm_options: { analytics_label: 'text', image },
  },
  webpush: {
    headers: 'texts',
    data: 'texts',
    notification: 'any',
    fcm_options: { link: webLink, analytics_label: 'text' },
  },
}

const targets = ['token', 'fid', 'topic', 'condition'] as const
const mostBytes = 4096
const mostTtlSeconds = 2_419_200

/** @example readFcmRequest('{"message":{"token":"t","data":{"n":1}}}') // { field: 'message.data[0].value', description: … } */
export function readFcmRequest(body: string): FcmRequest | Violation {
  const parsed = objectIn(body)
  if (!isObject(parsed?.message)) return { field: 'message', description: 'Message is not set.' }
  for (const name of Object.keys(parsed)) {
    if (name !== 'message' && snake(name) !== 'validate_only') return unknownField(name, '')
  }
  const message = toSnakeCase(parsed.message, shape)
  const wrong = checkFields(message, shape, 'message') ?? checkTarget(message) ?? checkContent(message as FcmMessage)
  return wrong ?? { validateOnly: parsed.validate_only === true || parsed.validateOnly === true, message }
}

function checkFields(
  value: Record<string, unknown>,
  fields: { readonly [field: string]: Shape },
  path: string,
): Violation | undefined {
  for (const [name, given] of Object.entries(value)) {
    const expected = fields[name]
    if (expected === undefined) return unknownField(name, path)
    const wrong = checkValue(given, expected, `${path}.${name}`)
    if (wrong) return wrong
  }
  return undefined
}

function checkValue(value: unknown, expected: Shape, path: string): Violation | undefined {
  if (typeof expected === 'object')
    return isObject(value) ? checkFields(value, expected, path) : invalid(path, 'TYPE_MESSAGE', value)
  switch (expected) {
    case 'any':
      return undefined
    case 'text':
      return typeof value === 'string' ? undefined : invalid(path, 'TYPE_STRING', value)
    case 'texts': {
      if (!isObject(value)) return invalid(path, 'TYPE_MESSAGE', value)
      const index = Object.values(value).findIndex((each) => typeof each !== 'string')
      return index === -1 ? undefined : invalid(`${path}[${index}].value`, 'TYPE_STRING', Object.values(value)[index])
    }
    case 'duration': {
      if (typeof value !== 'string' || !/^\d+(\.\d{1,9})?s$/.test(value))
        return { field: path, description: `Invalid value at '${path}' (type.googleapis.com/google.protobuf.Duration)` }
      if (Number.parseFloat(value) > mostTtlSeconds)
        return { field: path, description: `TTL must be between 0 and ${mostTtlSeconds} seconds.` }
      return undefined
    }
    case 'priority':
      return ['NORMAL', 'HIGH'].includes(String(value).toUpperCase()) ? undefined : invalid(path, 'TYPE_ENUM', value)
    default:
      return expected satisfies never
  }
}

function checkTarget(message: Record<string, unknown>): Violation | undefined {
  const named = targets.filter((target) => message[target] !== undefined && message[target] !== '')
  if (named.length === 1) return undefined
  return {
    field: 'message',
    description:
      named.length === 0 ? 'Recipient of the message is not set.' : 'Only one recipient of the message may be set.',
  }
}

function checkContent({
  data = {},
  notification,
  topic,
  webpush,
}: FcmMessage & { webpush?: { fcm_options?: { link?: string } } }): Violation | undefined {
  const reserved = Object.keys(data).find((key) => /^(from$|message_type$|gcm|google)/.test(key))
  if (reserved !== undefined)
    return { field: `message.data.${reserved}`, description: `Invalid data payload key: ${reserved}` }
  const most = topic === undefined ? mostBytes : mostBytes / 2
  if (Buffer.byteLength(JSON.stringify({ notification, data })) > most)
    return { field: 'message', description: `Message is too big: the maximum is ${most} bytes` }
  const link = webpush?.fcm_options?.link
  if (link !== undefined && !link.startsWith('https://'))
    return { field: 'message.webpush.fcm_options.link', description: 'The link must be an HTTPS URL.' }
  return undefined
}

function unknownField(name: string, path: string): Violation {
  return {
    field: path,
    description: `Invalid JSON payload received. Unknown name "${name}"${path && ` at '${path}'`}: Cannot find field.`,
  }
}

function invalid(path: string, type: string, value: unknown): Violation {
  return { field: path, description: `Invalid value at '${path}' (${type}), ${JSON.stringify(value)}` }
}

/** Converts known names from camelCase: Google accepts both forms. */
function toSnakeCase(
  value: Record<string, unknown>,
  fields: { readonly [field: string]: Shape },
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => {
      const known = Object.hasOwn(fields, snake(name)) ? snake(name) : name
      const inner = fields[known]
      return [known, typeof inner === 'object' && isObject(each) ? toSnakeCase(each, inner) : each]
    }),
  )
}

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
