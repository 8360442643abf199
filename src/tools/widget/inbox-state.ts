// Changes of the state, as pure functions.

import type { InboxCounts, InboxNotification, InboxPage, InboxState, Mark } from './types.ts'

export const initialState: InboxState = {
  status: 'loading',
  reason: null,
  listed: false,
  items: [],
  unseen: 0,
  unread: 0,
  more: false,
}

/** A later page continues the list. */
export function appendPage(state: InboxState, { items, next }: InboxPage): InboxState {
  const known = new Set(state.items.map((item) => item.site_notification_id))
  const older = items.filter((item) => !known.has(item.site_notification_id))
  return { ...state, items: [...state.items, ...older], more: next !== null }
}

/** A new or changed notification. `arrived`: it is new in the list, and the user has seen it nowhere. */
export function withNotification(
  state: InboxState,
  changed: InboxNotification,
  now: number,
): { readonly state: InboxState; readonly arrived: boolean } {
  const others = state.items.filter((item) => item.site_notification_id !== changed.site_notification_id)
  const wasListed = others.length < state.items.length
  const hidden = changed.dismissed_at !== null || changed.archived_at !== null || isExpired(changed, now)
  const last = state.items.at(-1)
  // It is on a page that was not loaded.
  const beyond = !wasListed && state.more && last !== undefined && isNewer(last, changed)
  if (hidden || beyond) return { state: { ...state, items: others }, arrived: false }
  const at = others.findIndex((item) => isNewer(changed, item))
  const items = others.toSpliced(at < 0 ? others.length : at, 0, changed)
  return { state: { ...state, items }, arrived: !wasListed && changed.seen_at === null }
}

export function withCounts(state: InboxState, { unseen, unread }: InboxCounts): InboxState {
  return { ...state, unseen, unread }
}

const implied: Readonly<Record<Mark, readonly Mark[]>> = {
  seen: ['seen'],
  read: ['seen', 'read'],
  clicked: ['seen', 'read', 'clicked'],
  dismissed: ['seen', 'dismissed'],
  archived: ['seen', 'read', 'archived'],
}

/** The state as the operator will have it after the mark. @param ids the marked notifications, or `all` */
export function withMark(state: InboxState, as: Mark, ids: readonly string[] | 'all', at: string): InboxState {
  const marked = (item: InboxNotification): boolean => ids === 'all' || ids.includes(item.site_notification_id)
  const removes = as === 'dismissed' || as === 'archived'
  const reads = as !== 'seen'
  const changed = state.items.filter(marked)
  const items = removes
    ? state.items.filter((item) => !marked(item))
    : state.items.map((item) => (marked(item) ? withTimes(item, as, at) : item))
  if (ids === 'all')
    return { ...state, items, unseen: 0, unread: reads ? 0 : state.unread, more: removes ? false : state.more }
  return {
    ...state,
    items,
    unseen: Math.max(0, state.unseen - changed.filter((item) => item.seen_at === null).length),
    unread: Math.max(0, state.unread - (reads ? changed.filter((item) => item.read_at === null).length : 0)),
  }
}

/** Takes a mark back that was not stored. @param before the state without the mark */
export function withoutMark(state: InboxState, before: InboxState, ids: readonly string[] | 'all'): InboxState {
  const marked = before.items.filter((item) => ids === 'all' || ids.includes(item.site_notification_id))
  const former = new Map(marked.map((item) => [item.site_notification_id, item]))
  const others = state.items.filter((item) => !former.has(item.site_notification_id))
  const items = [...others, ...marked].toSorted((a, b) => (isNewer(a, b) ? -1 : 1))
  const { unseen, unread, more } = before
  return { ...state, items, unseen, unread, more }
}

function withTimes(item: InboxNotification, as: Mark, at: string): InboxNotification {
  const times = Object.fromEntries(implied[as].map((mark) => [`${mark}_at`, item[`${mark}_at`] ?? at]))
  return { ...item, ...times }
}

/** Without the notifications that are not shown any more. */
export function withoutExpired(state: InboxState, now: number): InboxState {
  const expired = state.items.filter((item) => isExpired(item, now))
  if (expired.length === 0) return state
  return {
    ...state,
    items: state.items.filter((item) => !expired.includes(item)),
    unseen: Math.max(0, state.unseen - expired.filter((item) => item.seen_at === null).length),
    unread: Math.max(0, state.unread - expired.filter((item) => item.read_at === null).length),
  }
}

/** The next time at which a notification expires, in epoch milliseconds. */
export function nextExpiry(state: InboxState): number | undefined {
  const times = state.items.flatMap(({ expires_at: at }) => (at === null ? [] : [Date.parse(at)]))
  return times.length === 0 ? undefined : Math.min(...times)
}

function isExpired({ expires_at: at }: InboxNotification, now: number): boolean {
  return at !== null && Date.parse(at) <= now
}

function isNewer(a: InboxNotification, b: InboxNotification): boolean {
  if (a.created_at !== b.created_at) return a.created_at > b.created_at
  return a.site_notification_id > b.site_notification_id
}
