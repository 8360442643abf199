// The payload that the service worker of a browser reads, and the values of the TTL and Urgency headers.

import type { PushContent } from '../../../contract/content.ts'
import type { Receipt } from '../../../contract/receipt-token.ts'
import { shortened } from '../../../contract/storable.ts'

/** Every push service accepts a body of 4096 bytes (RFC 8291 §4). The rest is the overhead of the encryption. */
export const mostPayloadBytes = 3_993

/** Push services store no message longer than four weeks. */
const longestSeconds = 2_419_200

/**
 * The payload: JSON text with `push_id` and, if the message has them, `title`, `body`, `image`, `icon`, `url` (texts), `receipt` (the address
 * and token for reports) and `data` (an object). A service worker shows it with `tag: push_id`, so that a message that arrives twice is shown once.
 *
 * @example payloadOf('0197…', { title: 'Hello', data: '{"n":1}' }) // {"push_id":"0197…","title":"Hello","data":{"n":1}}
 */
export function payloadOf(
  ref: string,
  { title, body, image_url: image, url, data }: PushContent,
  { receipt, icon }: { readonly receipt?: Receipt | undefined; readonly icon?: string | undefined } = {},
): Buffer {
  const texts = JSON.stringify({ push_id: ref, title, body, image, icon, url, receipt })
  // `data` is inserted as text, so that numbers beyond 2^53 keep their digits.
  return Buffer.from(data === undefined ? texts : `${texts.slice(0, -1)},"data":${data}}`)
}

/** The time to live in seconds. 0: the push service delivers at once or not at all. Undefined: the message is expired. */
export function secondsLeft(expiresAt: number, now: number): number | undefined {
  return expiresAt <= now ? undefined : Math.min(Math.floor((expiresAt - now) / 1_000), longestSeconds)
}

export type Urgency = 'very-low' | 'low' | 'normal' | 'high'
const urgencies: readonly unknown[] = ['very-low', 'low', 'normal', 'high'] satisfies Urgency[]

/** @example urgencyOf({ overrides: { 'web-push': { urgency: 'high' } } }) // 'high' */
export function urgencyOf({ overrides }: PushContent): Urgency | { readonly error: string } {
  const { urgency = 'normal', ...others } = overrides?.['web-push'] ?? {}
  const [other] = Object.keys(others)
  if (other !== undefined)
    return { error: `overrides.web-push may not set ${JSON.stringify(shortened(other, 40))}: only urgency` }
  return urgencies.includes(urgency)
    ? (urgency as Urgency)
    : { error: 'overrides.web-push.urgency must be very-low, low, normal or high' }
}
