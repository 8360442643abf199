import { createHash } from 'node:crypto'

/**
 * The topic that is woken for a user's new notifications. PostgreSQL limits it to 8,000 bytes, so a long user id is hashed. No other
 * user has this topic, also not one whose id is the hash.
 */
export function topicOf(brand: string, userId: string): string {
  if (userId.length <= 128) return `inbox/${brand}/${userId}`
  return `inbox-of-hash/${brand}/${createHash('sha256').update(userId).digest('base64url')}`
}
