// What a message is on its way to a browser: the payload that its service worker reads, and the headers beside it.

import type { PushContent } from '../../contract/content.ts'
import { shortened } from '../../contract/storable.ts'

/** A body of 4096 bytes, the most that every push service takes (RFC 8291 §4), less what encrypting adds. */
export const mostPayloadBytes = 3_993

/** Push services keep nothing longer: four weeks. */
const longestSeconds = 2_419_200

/**
 * The payload: JSON text with `push_id`, and of `title`, `body`, `image`, `url` (texts) and `data` (an object) what the message has.
 * A service worker shows it with `tag: push_id`, so that a message which came twice is seen once.
 *
 * @example payloadOf('0197…', { title: 'Hello', data: '{"n":1}' }) // {"push_id":"0197…","title":"Hello","data":{"n":1}}
 */
export function payloadOf(ref: string, { title, body, image_url: image, url, data }: PushContent): Buffer {
  const texts = JSON.stringify({ push_id: ref, title, body, image, url })
  // Spliced in as text: numbers beyond 2^53 keep their digits.
  return Buffer.from(data === undefined ? texts : `${texts.slice(0, -1)},"data":${data}}`)
}

/** For how many seconds it may still be delivered; 0: now or never. Undefined: not any more. */
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
    return { error: `overrides: web-push has no ${JSON.stringify(shortened(other, 40))}, only urgency` }
  return urgencies.includes(urgency)
    ? (urgency as Urgency)
    : { error: 'overrides: the urgency of web-push is none of very-low, low, normal, high' }
}
