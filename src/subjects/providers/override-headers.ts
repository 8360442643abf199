// The headers that a message may set by its overrides, with their valid values. Pure. Other headers or values could stop the push
// service for all messages.

import { shortened } from '../../contract/storable.ts'
import { isObject } from './merge.ts'

export type HeaderRules = Readonly<Record<string, { readonly form: RegExp; readonly says: string }>>

/** Not apns-topic, apns-id and authorization: the device, the message and the credential determine them. */
export const apnsHeaders: HeaderRules = {
  'apns-priority': { form: /^(1|5|10)$/, says: '1, 5 or 10' },
  'apns-push-type': {
    // Any other type needs a topic of its own, such as com.example.app.voip.
    form: /^(alert|background)$/,
    says: 'alert or background',
  },
  'apns-expiration': { form: /^\d{1,10}$/, says: 'epoch seconds as digits, or 0' },
  'apns-collapse-id': { form: /^[\x21-\x7e]{1,64}$/, says: '1 to 64 printable ASCII characters without spaces' },
}

export const webPushHeaders: HeaderRules = {
  ttl: { form: /^\d{1,7}$/, says: 'seconds as digits, at most 2419200' },
  urgency: { form: /^(very-low|low|normal|high)$/, says: 'very-low, low, normal or high' },
  topic: { form: /^[A-Za-z0-9_-]{1,32}$/, says: 'at most 32 letters, digits, - and _' },
}

/**
 * Describes the first invalid header of an override, or returns undefined if all are valid. The value null removes a header.
 *
 * @example headerFault({ 'apns-priority': '7' }, apnsHeaders, 'overrides.apns.headers')
 * // 'overrides.apns.headers.apns-priority is "7": use 1, 5 or 10'
 */
export function headerFault(headers: unknown, rules: HeaderRules, at: string): string | undefined {
  if (headers === undefined || headers === null) return undefined
  if (!isObject(headers)) return `${at} must be an object of header names and string values`
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase()
    const rule = Object.hasOwn(rules, lower) ? rules[lower] : undefined
    if (!rule)
      return `${at} may not set ${JSON.stringify(shortened(name, 40))}: allowed are ${Object.keys(rules).join(', ')}`
    if (value === null) continue
    if (typeof value !== 'string') return `${at}.${lower} must be a string: ${rule.says}`
    if (!rule.form.test(value)) return `${at}.${lower} is ${JSON.stringify(shortened(value, 40))}: use ${rule.says}`
  }
  return undefined
}
