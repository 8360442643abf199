import { clock } from '../../base/runtime/clock.ts'
import { timeOfUuidv7 } from '../../base/runtime/ids.ts'
import type { Content } from '../../contract/content.ts'

/**
 * The end of a message's lifetime in epoch milliseconds. The lifetime begins with the first attempt, when the identifier was
 * made. The message may name an earlier end (row 56).
 */
export function expiryOf(ref: string, { expiresAt = Number.POSITIVE_INFINITY }: Content, lifetimeMs: number): number {
  return Math.min((timeOfUuidv7(ref) ?? clock.now()) + lifetimeMs, expiresAt)
}
