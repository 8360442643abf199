import { createHash } from 'node:crypto'

/** The topic that is woken for a user's new notifications. PostgreSQL limits it to 8,000 bytes, so a long user id is hashed. */
export function topicOf(brand: string, userId: string): string {
  const short = userId.length <= 128 ? userId : createHash('sha256').update(userId).digest('base64url')
  return `inbox/${brand}/${short}`
}
