// Row 29: what makes a message this message and no other. The brand is a column of its own beside the key, everywhere.

import { type Channel, channels, isChannel } from './endpoints.ts'
import { quote } from './quote.ts'

export interface MessageParts {
  /** Ids as text: 5 and "5" are the same message (row 2). */
  readonly id: string
  readonly userId: string
  readonly activityId: string | null
  readonly actionId: string | null
  readonly triggerHash: string | null
}

/**
 * The same activity.id with any other part is another message. The action group is left out: it is a label of the action.
 *
 * @example
 * messageKey('push', { id: '7', userId: '1001', activityId: '5', actionId: null, triggerHash: 'ab' })
 * // '["push","7","1001","5",null,"ab"]'
 */
export function messageKey(channel: Channel, { id, userId, activityId, actionId, triggerHash }: MessageParts): string {
  return `["${channel}",${quote(id)},${quote(userId)}${actionOf(activityId, actionId, triggerHash)}`
}

// The messages of one batch are of one action, nearly always.
let last: { readonly of: readonly (string | null)[]; readonly text: string } = { of: [], text: '' }

function actionOf(activityId: string | null, actionId: string | null, triggerHash: string | null): string {
  const [activity, action, trigger] = last.of
  if (activity === activityId && action === actionId && trigger === triggerHash) return last.text
  const of = [activityId, actionId, triggerHash]
  last = { of, text: `,${of.map(part).join(',')}]` }
  return last.text
}

function part(text: string | null): string {
  return text === null ? 'null' : quote(text)
}

/**
 * The ranges of keys that have the messages with this activity.id, with any other parts: keys begin with the channel and the id.
 *
 * @example messageKeysOf('7')[0] // { first: '["push","7",', after: '["push","7"-' }
 */
export function messageKeysOf(id: string): readonly { readonly first: string; readonly after: string }[] {
  return channels.map((channel) => {
    const beginning = `["${channel}",${quote(id)}`
    return { first: `${beginning},`, after: `${beginning}-` } // '-' follows ',' in the order of bytes
  })
}

/** The parts again. Throws where the text was not made by messageKey(). */
export function readMessageKey(key: string): MessageParts & { readonly channel: Channel } {
  const read: unknown = JSON.parse(key)
  if (Array.isArray(read) && read.length === 6) {
    const [channel, id, userId, activityId, actionId, triggerHash] = read as unknown[]
    if (isChannel(channel) && typeof id === 'string' && typeof userId === 'string') {
      if (isPart(activityId) && isPart(actionId) && isPart(triggerHash)) {
        return { channel, id, userId, activityId, actionId, triggerHash }
      }
    }
  }
  throw new Error(`not the key of a message: ${key}`)
}

function isPart(value: unknown): value is string | null {
  return value === null || typeof value === 'string'
}
