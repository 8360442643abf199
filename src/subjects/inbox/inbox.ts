import { clock } from '../../base/runtime/clock.ts'
import type { Database } from '../../base/store/database.ts'
import {
  type Content,
  type ContentMapping,
  defaultContentMapping,
  readContent,
  textMissingAt,
} from '../../contract/content.ts'
import { refuseFailed } from '../../contract/refusals.ts'
import type { Message, Provider, Result } from '../providers/provider.ts'
import { addOps } from './store.ts'
import { topicOf } from './topic.ts'

export { inboxMigrations } from './store.ts'

/**
 * The on-site notification provider (§1.2): stores each message as a row of its user's inbox, which the browser lists and streams
 * (routes.ts). It delivers only by its `writes`: the row is committed with the settle, or not at all.
 *
 * @example
 * const site = createInbox({ database })
 * const own = createInbox({ database, content: { ...defaultContentMapping, title: '/message/headline' } })
 */
export function createInbox(options: {
  readonly database: Pick<Database, 'wake'>
  /** The pointers to title, body, image_url, url and data in a request element (row 4). */
  readonly content?: ContentMapping
  readonly now?: () => number
}): Provider {
  const { database, content: mapping = defaultContentMapping, now = clock.now } = options
  return {
    name: 'inbox',
    max: 1000,
    transactional: true,
    async send(messages) {
      const createdAt = now()
      return messages.map((message) => {
        const content = readContent(message.text, mapping, message.element)
        if ('error' in content) {
          return refuseFailed('unreadable_content', { error: content.error, ref: message.ref })
        }
        if ((content.expiresAt ?? Number.POSITIVE_INFINITY) <= createdAt)
          return refuseFailed('expired_in_queue', { ref: message.ref })
        return toResult(message, content, createdAt)
      })
    },
  }

  // Each message has its own rows and wake, because messages may be settled separately. The store merges the rows of one commit.
  function toResult(message: Message, content: Content, createdAt: number): Result {
    const { brand, userId, ref, id } = message
    const writes = addOps({
      brand,
      user_id: userId,
      ref,
      id,
      title: content.title ?? null,
      body: content.body ?? null,
      image_url: content.image_url ?? null,
      url: content.url ?? null,
      data: content.data ?? null,
      created_at: createdAt,
      expires_at: content.expiresAt ?? null,
    })
    const missing = textMissingAt(content, mapping)
    return {
      category: 'successful',
      ref,
      rule: 'stored in the inbox',
      ...(missing && { textMissingAt: missing }),
      writes: [...writes, database.wake(topicOf(brand, userId))],
    }
  }
}
