// Row 29: the key that identifies a message within a brand. The brand is always stored in a separate column.

import { type Channel, channels, isChannel } from './endpoints.ts'
import { quote } from './quote.ts'
import type { Activity } from './read-item.ts'

export type MessageParts = Pick<Activity, 'id' | 'userId' | 'activityId' | 'actionId' | 'triggerHash'>

/**
 * Two messages are the same if all parts are equal. The action group is not a part, because it is a label of the action.
 *
 * @example
 * messageKey('push', { id: '7', userId: '1001', activityId: '5', actionId: null, triggerHash: 'ab' })
 * // '["push","7","1001","5",null,"ab"]'
 */
export function messageKey(channel: Channel, { id, userId, activityId, actionId, triggerHash }: MessageParts): string {
  return `["${channel}",${quote(id)},${quote(userId)}${actionText(activityId, actionId, triggerHash)}`
}

// A cache of one entry: the messages of a batch nearly always have the same action.
let cached: { readonly parts: readonly (string | null)[]; readonly text: string } = { parts: [], text: '' }

function actionText(activityId: string | null, actionId: string | null, triggerHash: string | null): string {
  const [activity, action, trigger] = cached.parts
  if (activity === activityId && action === actionId && trigger === triggerHash) return cached.text
  const parts = [activityId, actionId, triggerHash]
  cached = { parts, text: `,${parts.map(quotePart).join(',')}]` }
  return cached.text
}

function quotePart(text: string | null): string {
  return text === null ? 'null' : quote(text)
}

/**
 * The key ranges of all messages with this activity.id, one range per channel: a key begins with the channel and the id.
 *
 * @example messageKeysOf('7')[0] // { first: '["push","7",', after: '["push","7"-' }
 */
export function messageKeysOf(id: string): readonly { readonly first: string; readonly after: string }[] {
  return channels.map((channel) => {
    const prefix = `["${channel}",${quote(id)}`
    return { first: `${prefix},`, after: `${prefix}-` } // '-' follows ',' in byte order
  })
}

/** Parses a key into its parts. Throws if the text is not the result of messageKey(). */
export function readMessageKey(key: string): MessageParts & { readonly channel: Channel } {
  const parsed: unknown = JSON.parse(key)
  if (Array.isArray(parsed) && parsed.length === 6) {
    const [channel, id, userId, activityId, actionId, triggerHash] = parsed as unknown[]
    if (isChannel(channel) && typeof id === 'string' && typeof userId === 'string') {
      if (isPart(activityId) && isPart(actionId) && isPart(triggerHash)) {
        return { channel, id, userId, activityId, actionId, triggerHash }
      }
    }
  }
  throw new Error(`not a message key: ${key}`)
}

/**
 * The key of an erased message: without the ids of the user and of the message, with the campaign.
 *
 * @param digest of the key
 */
export function erasedKey(key: string, userDigest: string, digest: string): string {
  const { channel, activityId, actionId } = readMessageKey(key)
  return messageKey(channel, { id: digest, userId: userDigest, activityId, actionId, triggerHash: null })
}

function isPart(value: unknown): value is string | null {
  return value === null || typeof value === 'string'
}
