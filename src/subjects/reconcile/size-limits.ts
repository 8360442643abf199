// Checks whether the size of a list is plausible: a list from a half-loaded table would unblock half of all users.

import { AnswerRefused } from './answer-refused.ts'

export interface SizeLimits {
  /** The most percent that a list may shrink or grow, compared with the reference. */
  readonly shrink: number
  readonly grow: number
  /** A difference of this many ids is always accepted: two of three users may be unblocked in a day. */
  readonly slack: number
}

/** The size to compare with: the last good list, or the CRM's count if there is no good list yet. */
export interface SizeReference {
  readonly users: number
  readonly of: 'the last good list' | 'the CRM’s own count'
}

/** The largest plausible list. A longer list is not read to its end. */
export function maxUsers({ users }: SizeReference, { grow, slack }: SizeLimits): number {
  return Math.max(Math.floor(users * (1 + grow / 100)), users + slack)
}

export function minUsers({ users }: SizeReference, { shrink, slack }: SizeLimits): number {
  return Math.max(0, Math.min(Math.ceil(users * (1 - shrink / 100)), users - slack))
}

/** @throws AnswerRefused */
export function refuseGrownList(users: number, reference: SizeReference, limits: SizeLimits): void {
  const most = maxUsers(reference, limits)
  if (users > most)
    throw new AnswerRefused(
      'grown',
      reference.of === 'the CRM’s own count' && reference.users === 0
        ? `it has more than ${most} ids, and the CRM has none: import the CRM’s users first (bellwire attributes import), or accept this first list once with any size (--any-size)`
        : `it has more than ${most} ids (${reference.of}: ${reference.users}, limits.grow ${limits.grow} %)`,
    )
}

/** @throws AnswerRefused */
export function refuseShrunkList(users: number, reference: SizeReference, limits: SizeLimits): void {
  const least = minUsers(reference, limits)
  if (users < least)
    throw new AnswerRefused(
      'shrunk',
      `it has ${users} ids (${reference.of}: ${reference.users}, limits.shrink ${limits.shrink} %)`,
    )
}
