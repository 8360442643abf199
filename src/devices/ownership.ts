// Row 20, the pure rule: whose a device is, whatever order its links and unlinks arrive in and however often.
//
// For each brand and token we keep the greatest link, and for each user the greatest unlink, also of tokens and users that
// were never linked. Both are maxima, so that merging what two ways have brought is commutative, associative and
// idempotent. The tables (tables.ts) hold the same two maxima.

import type { DeviceKind } from './device.ts'
import type { Timestamp } from './timestamp.ts'

/** A link: from `at` on, the device is this user's. Absent texts are empty, so that all of it can be compared. */
export interface Link {
  readonly at: Timestamp
  readonly userId: string
  readonly token: string
  readonly kind: DeviceKind
  readonly app: string
  readonly environment: '' | 'production' | 'sandbox'
  readonly channel: string
  readonly origin: string
}

/** What is known of one token of one brand. */
export interface TokenState {
  readonly link?: Link
  /** user id → the greatest time at which it was unlinked from them. */
  readonly unlinks: ReadonlyMap<string, Timestamp>
}

export const unknown: TokenState = { unlinks: new Map() }

export const linked = (link: Link): TokenState => ({ link, unlinks: unknown.unlinks })

/** All of a link that decides whose a device is. */
export function bareLink(at: Timestamp, userId: string): Link {
  return { at, userId, token: '', kind: 'fcm_token', app: '', environment: '', channel: '', origin: '' }
}

export const unlinked = (userId: string, at: Timestamp): TokenState => ({ unlinks: new Map([[userId, at]]) })

/** What is known when both are known. */
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
 * Whose it is: the user of the greatest link, unless that user's greatest unlink is as late or later; then nobody's, not
 * the user's before.
 */
export function owner({ link, unlinks }: TokenState): string | undefined {
  if (!link) return undefined
  const unlinkedAt = unlinks.get(link.userId)
  return unlinkedAt !== undefined && unlinkedAt >= link.at ? undefined : link.userId
}

/** By time, then by user. The rest only decides between two links of one user at one time, lest their order decide. */
export const linkOrder = ['at', 'userId', 'token', 'kind', 'app', 'environment', 'channel', 'origin'] as const

function isGreater(a: Link, b: Link): boolean {
  for (const name of linkOrder) {
    const difference = compareBytes(a[name], b[name])
    if (difference !== 0) return difference > 0
  }
  return false
}

/** As both engines compare: by UTF-8. JavaScript's `<` goes by UTF-16, which is another order beyond U+FFFF. */
function compareBytes(a: string, b: string): number {
  return a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b))
}
