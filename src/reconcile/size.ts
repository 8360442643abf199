// Is a list of this size to be believed? Half a table that was just being loaded would read as half of all users unblocked.

import { Refused } from './refusal.ts'

export interface SizeLimits {
  /** Most that a list may shrink or grow against the last one, in percent. */
  readonly shrink: number
  readonly grow: number
  /** So many ids more or fewer are always fine: of three users two may be unblocked in a day. */
  readonly slack: number
}

/** What the list is measured against: the last one that was good; before there is one, the CRM's own count. */
export interface Reference {
  readonly users: number
  readonly of: 'the last good list' | 'the CRM’s own count'
}

/** The largest list that is believed: what is longer need not be read to its end. */
export function mostUsers({ users }: Reference, { grow, slack }: SizeLimits): number {
  return Math.max(Math.floor(users * (1 + grow / 100)), users + slack)
}

export function leastUsers({ users }: Reference, { shrink, slack }: SizeLimits): number {
  return Math.max(0, Math.min(Math.ceil(users * (1 - shrink / 100)), users - slack))
}

/** @throws Refused */
export function refuseGrown(users: number, reference: Reference, limits: SizeLimits): void {
  const most = mostUsers(reference, limits)
  if (users > most)
    throw new Refused(
      'grown',
      reference.of === 'the CRM’s own count' && reference.users === 0
        ? `it has more than ${most} ids, and the CRM has none: import the CRM’s users first (bellwire attributes import), or accept this first list once`
        : `it has more than ${most} ids (${reference.of}: ${reference.users}, limits.grow ${limits.grow} %)`,
    )
}

/** @throws Refused */
export function refuseShrunk(users: number, reference: Reference, limits: SizeLimits): void {
  const least = leastUsers(reference, limits)
  if (users < least)
    throw new Refused(
      'shrunk',
      `it has ${users} ids (${reference.of}: ${reference.users}, limits.shrink ${limits.shrink} %)`,
    )
}
