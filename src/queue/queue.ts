// The interface of the queue, which stores every item until it is settled (design §6).

import type { Outcome, Reason } from '../contract/outcome.ts'
import type { Op } from '../store/database.ts'

export interface Item {
  readonly seq: number
  readonly lane: string
  /** Unique in its lane for ever: an item with the key of an earlier item is not stored. */
  readonly key: string
  readonly text: string
  /** The number of this attempt, from 1. */
  readonly attempt: number
  /** Epoch milliseconds. */
  readonly enqueuedAt: number
  readonly traceparent?: string
}
/** `writes` are committed together with the outcome. */
export type HandledOutcome = Outcome & { readonly writes?: readonly Op[] }
export type LaneHandler = (
  items: readonly Item[],
  context: { readonly deadline: number; readonly signal: AbortSignal },
) => Promise<readonly HandledOutcome[]>

export interface Lane {
  /** Begins with the brand: '1/push' (row 31). */
  readonly name: string
  /**
   * 'lane': one call at a time, and a fatal item holds all items behind it. 'user': the items of one user are sent in order,
   * and a fatal item holds only its user's later items. The user is the second element of the key: see userKey().
   */
  readonly order: 'none' | 'lane' | 'user'
  /** The most items in one call, and the most bytes of their texts (§4.1 rule 3). */
  readonly max: number
  readonly bytes: number
  /** After this time a batch is sent even if it is not full. */
  readonly spanMs: number
  readonly concurrency: number
  /** The most items per second. */
  readonly perSecond?: number
  readonly timeoutMs: number
  /** Failed Actions (§6.4). On: failed items are kept in full and listed. Off: they are only counted. */
  readonly keepFailed: boolean
  readonly retry: { readonly firstMs: number; readonly mostMs: number; readonly attempts?: number }
  /** The lane pauses after this many refusals in a row (401, 403, 404 or 405 on single requests). Default: 100. */
  readonly refusals?: number
}

export interface NewItem {
  readonly key: string
  readonly text: string
  readonly traceparent?: string
}
/** An item that failed before its first attempt. */
export interface NewFailedItem extends NewItem {
  readonly reason: Reason
  readonly error: string
  readonly rule: string
}
/** `isNew` is false if the lane had an item with this key; `seq` is then the number of the earlier item. */
export interface EnqueuedItem {
  readonly seq: number
  readonly isNew: boolean
}

export interface LaneState {
  readonly name: string
  readonly waiting: number
  /** The age of the oldest waiting item. Of postponed items, only the next 1,000 are read. */
  readonly oldestAgeMs: number
  /** Whether this process owns the lane. */
  readonly owned: boolean
  /** held: the provider is unavailable and is probed. paused: until a person resumes the lane. elsewhere: another process owns it. */
  readonly state: 'running' | 'held' | 'paused' | 'elsewhere'
  readonly heldForMs: number
  /** The number of items in running calls. */
  readonly inFlight: number
  readonly lastError?: string
}

/** A lane that this process serves, or waits to own. */
export interface LaneService {
  readonly name: string
  start(): void
  /** Starts no new calls, waits for running calls for at most `withinMs`, settles their items and releases the lane. */
  stop(withinMs?: number): Promise<void>
  state(): Promise<LaneState>
  /** Ends the pause of the lane, whichever process owns it. */
  resume(): Promise<void>
}

export interface FailedFilter {
  readonly lane?: string
  readonly activity?: string
  readonly action?: string
  readonly user?: string
  readonly state?: 'pending' | 'dismissed' | 'replayed'
}
export interface FailedItem {
  readonly seq: number
  readonly lane: string
  readonly activity: string | null
  readonly action: string | null
  readonly user: string | null
  readonly key: string
  /** The request element that was enqueued. */
  readonly text: string
  readonly reason: Reason
  readonly error: string
  readonly rule: string
  readonly answer: string | null
  readonly call: string | null
  readonly attempts: number
  readonly at: number
  readonly state: 'pending' | 'dismissed' | 'replayed'
  readonly decidedBy: string | null
  readonly decidedAt: number | null
}
export interface Decision {
  /** Items per second of a replay. Default: all items are due at once. */
  readonly perSecond?: number
  /** The name of the key that decided. */
  readonly by?: string
}

export interface ItemOutcome {
  readonly seq: number
  readonly lane: string
  readonly category: 'waiting' | 'successful' | 'failed'
  readonly attempts?: number
  readonly ref?: string
  readonly rule?: string
  /** Delivered, but the answer has no identifier (row 6). */
  readonly untracked?: true
  /** Why the item failed. For a waiting item: why the last attempt failed, if this process knows. */
  readonly reason?: string
  readonly error?: string
  readonly call?: string
}

/** A search in these lanes: by the operator's identifier, by activity.id, or by user. */
export type ItemSearch = { readonly lanes: readonly string[] } & (
  | { readonly ref: string }
  | { readonly id: string }
  | {
      readonly userId: string
      /** Only items with smaller numbers. */
      readonly before?: number
      /** Default: 100. */
      readonly limit?: number
    }
)
export type FoundItem = ItemOutcome & Pick<Item, 'key' | 'enqueuedAt'>

export interface Queue {
  /** Operations that enqueue these items, for a commit together with other operations. Existing items do not change. */
  enqueueOps(lane: string, items: readonly NewItem[]): readonly Op[]
  /** Operations that insert these items into Failed Actions. An item that is there already becomes pending again. */
  insertFailedOps(lane: string, items: readonly NewFailedItem[]): readonly Op[]
  /** The items are durable when the promise resolves. The result has the order of `items`. */
  enqueue(lane: string, items: readonly NewItem[]): Promise<readonly EnqueuedItem[]>
  serveLane(lane: Lane, handle: LaneHandler): LaneService
  /** Outcomes in the order of `seqs`, without unknown numbers. */
  readOutcomes(seqs: readonly number[]): Promise<readonly ItemOutcome[]>
  /** Sorted by number. The items of a user are sorted from the newest to the oldest. */
  findItems(search: ItemSearch): Promise<readonly FoundItem[]>
  /** A page of Failed Actions, sorted by number. `next` is the cursor of the next page, if there is one. */
  listFailed(
    filter: FailedFilter,
    page: { readonly after: number; readonly limit: number },
  ): Promise<{ readonly items: readonly FailedItem[]; readonly next?: number }>
  /** Dismisses or replays the matching items. Default state: pending. @returns the number of items */
  decideFailed(filter: FailedFilter, action: 'dismiss' | 'replay', decision?: Decision): Promise<number>
  /** The number of items of each lane and category. */
  countItems(): Promise<
    readonly { readonly lane: string; readonly category: ItemOutcome['category']; readonly items: number }[]
  >
  /** Deletes a bounded number of items that were settled before `before`. @returns how many; 0: none are left */
  forgetSettled(before: number): Promise<number>
}
