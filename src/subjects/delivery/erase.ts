// Erasure of a person's texts in the stored requests. The rows of the messages stay: their keys prevent that a repetition is sent again.

import type { Database } from '../../base/store/database.ts'
import { findByUser } from './messages.ts'
import { eraseTexts } from './requests.ts'

export interface ErasedTexts {
  readonly messages: number
  /** Requests in which a text was overwritten; a request that retention has removed does not count. */
  readonly requests: number
}

const pageSize = 500

/**
 * Overwrites the texts of all messages of a user in their requests. A message that arrives meanwhile may keep its text: call it again.
 *
 * @param onPage called with the identifiers of each page of the messages, to erase other stored data about them
 */
export async function eraseUserTexts(
  database: Database,
  brand: string,
  userId: string,
  onPage: (refs: readonly string[]) => Promise<unknown> = async () => {},
): Promise<ErasedTexts> {
  let messages = 0
  let requests = 0
  let before: string | undefined
  for (;;) {
    const found = await findByUser(database, brand, userId, { most: pageSize, ...(before !== undefined && { before }) })
    messages += found.length
    requests += await eraseTexts(database, found)
    await onPage(found.map(({ ref }) => ref))
    if (found.length < pageSize) return { messages, requests }
    before = found.at(-1)?.ref
  }
}
