// Erasure of a person's texts at the operator. The rows of the messages stay: their keys prevent that a repetition is sent again.

import { type ErasedTexts, eraseUserTexts } from '../delivery/erase.ts'
import { eraseNotifications } from '../inbox/store.ts'
import { eraseStatusMeta } from '../status/retention.ts'
import type { Database } from '../store/database.ts'

export interface Erased extends ErasedTexts {
  readonly notifications: number
}

/**
 * Overwrites the texts of all messages of a user in their requests, and deletes the user's notifications in the inbox and the
 * meta of the user's delivery statuses. A message that arrives meanwhile may keep its text: call it again.
 */
export async function eraseUser(database: Database, brand: string, userId: string): Promise<Erased> {
  const texts = await eraseUserTexts(database, brand, userId, (refs) => eraseStatusMeta(database, brand, userId, refs))
  return { ...texts, notifications: await eraseNotifications(database, brand, userId) }
}
