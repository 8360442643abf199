import { createHash } from 'node:crypto'

/** What is woken when there is something new for a user. PostgreSQL carries at most 8,000 bytes, so a long id is hashed. */
export function topicOf(brand: string, userId: string): string {
  const short = userId.length <= 128 ? userId : createHash('sha256').update(userId).digest('base64url')
  return `inbox/${brand}/${short}`
}
