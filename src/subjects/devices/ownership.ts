// The rule of row 20 as pure functions: the owner of a device does not depend on the order of its links and unlinks, or on
// repetitions.
//
// For each brand and token we keep the latest link, and for each user the latest unlink, even if the token or user was never
// linked. Both are maxima, so merging two states is commutative, associative and idempotent. The tables (tables.ts) hold the
// same two maxima.

import type { Timestamp } from '../../contract/timestamp.ts'
import type { StampedEvent } from './device-event.ts'

/** A link: from `at` on, the device belongs to this user. Absent texts are empty strings, so that two links can be compared. */
export type Link = Omit<StampedEvent, 'what' | 'brand' | 'id' | 'skipPublishing'>

/** The known links and unlinks of one token of one brand. */
export interface TokenState {
  readonly link?: Link
  /** user id → the latest time at which the token was unlinked from this user. */
  readonly unlinks: ReadonlyMap<string, Timestamp>
}

export const unknown: TokenState = { unlinks: new Map() }

export const linked = (link: Link): TokenState => ({ link, unlinks: unknown.unlinks })

/** A link with only the properties that decide the owner of the device. */
export function bareLink(at: Timestamp, userId: string): Link {
  return { at, userId, token: '', kind: 'fcm_token', app: '', environment: '', channel: '', origin: '' }
}

export const unlinked = (userId: string, at: Timestamp): TokenState => ({ unlinks: new Map([[userId, at]]) })

/** Merges two states: the later link, and for each user the later unlink. */
export function merge(a: TokenState, b: TokenState): TokenState {
  const link = !a.link || (b.link && isGreater(b.link, a.link)) ? b.link : a.link
  const unlinks = latest(a.unlinks, b.unlinks)
  return link ? { link, unlinks } : { unlinks }
}

function latest(a: TokenState['unlinks'], b: TokenState['unlinks']): TokenState['unlinks'] {
  if (b.size === 0) return a
  if (a.size === 0) return b
  const unlinks = new Map(a)
  for (const [userId, at] of b) {
    const before = unlinks.get(userId)
    if (before === undefined || at > before) unlinks.set(userId, at)
  }
  return unlinks
}

/**
 * Returns the owner of the device: the user who linked it last. Undefined if that user has unlinked it at the same time or
 * later; the device then does not fall back to an earlier user.
 */
export function owner({ link, unlinks }: TokenState): string | undefined {
  if (!link) return undefined
  const unlinkedAt = unlinks.get(link.userId)
  return unlinkedAt !== undefined && unlinkedAt >= link.at ? undefined : link.userId
}

/** Links are ordered by time, then by user. The other properties only order two links of one user with equal times. */
export const linkOrder = ['at', 'userId', 'token', 'kind', 'app', 'environment', 'channel', 'origin'] as const

function isGreater(a: Link, b: Link): boolean {
  for (const name of linkOrder) {
    const difference = compareBytes(a[name], b[name])
    if (difference !== 0) return difference > 0
  }
  return false
}

/** Compares by UTF-8 bytes, as both databases do. JavaScript's `<` compares UTF-16, which orders differently beyond U+FFFF. */
function compareBytes(a: string, b: string): number {
  return a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b))
}
