// Erasure of a person's texts at the operator. The rows of the messages stay: their keys prevent that a repetition is sent again.

import { findByUser } from '../delivery/messages.ts'
import { eraseTexts } from '../delivery/requests.ts'
import { eraseNotifications } from '../inbox/store.ts'
import { eraseStatusMeta } from '../status/retention.ts'
import type { Database } from '../store/database.ts'

export interface Erased {
  readonly messages: number
  /** Requests in which a text was overwritten; a request that retention has removed does not count. */
  readonly requests: number
  readonly notifications: number
}

const pageSize = 500

/**
 * Overwrites the texts of all messages of a user in their requests, and deletes the user's notifications in the inbox and the
 * meta of the user's delivery statuses. A message that arrives meanwhile may keep its text: call it again.
 */
export async function eraseUser(database: Database, brand: string, userId: string): Promise<Erased> {
  let messages = 0
  let requests = 0
  let before: string | undefined
  for (;;) {
    const found = await findByUser(database, brand, userId, { most: pageSize, ...(before !== undefined && { before }) })
    messages += found.length
    requests += await eraseTexts(database, found)
    const refs = found.map(({ ref }) => ref)
    await eraseStatusMeta(database, brand, userId, refs)
    if (found.length < pageSize) break
    before = found.at(-1)?.ref
  }
  return { messages, requests, notifications: await eraseNotifications(database, brand, userId) }
}
