// The interface of the queue, which stores every item until it is settled (docs/contributing/decisions.md).

import type { Outcome, Reason } from '../../contract/outcome.ts'
import type { Op } from '../store/database.ts'
import type { Control, ControlKey, NewControl } from './controls/controls.ts'
import type { Cancellation, NewCancellation, WaitingCount, WaitingSelection } from './controls/waiting-selection.ts'
import type { FailedState } from './failed/failed-state.ts'

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
  /** Epoch milliseconds. From then on the item is not sent, and fails as expired. */
  readonly expiresAt?: number
  /** Sent before all items of its lane that are not transactional. */
  readonly transactional?: true
}
/** `writes` are committed together with the outcome. */
export type HandledOutcome = Outcome & { readonly writes?: readonly Op[] }
export type LaneHandler = (
  items: readonly Item[],
  context: { readonly deadline: number; readonly signal: AbortSignal; readonly mode: LaneSettings['mode'] },
) => Promise<readonly HandledOutcome[]>

/** The settings of a lane that can be changed while it runs. */
export interface LaneSettings {
  /** single: each call has one item. */
  readonly mode: 'single' | 'batch'
  /** The most items in a batch. With mode `single` it is not in effect. */
  readonly max: number
  /** After this time a batch is sent even if it is not full. With mode `single` it is not in effect. */
  readonly spanMs: number
  readonly concurrency: number
  /** The most items per second. Absent: no limit. */
  readonly perSecond?: number
}
export interface Lane {
  /** Begins with the brand: '1/push' (row 31). */
  readonly name: string
  /**
   * 'lane': one call at a time, and a fatal item holds all items behind it. 'user': the items of one user are sent in order,
   * and a fatal item holds only its user's later items. The user is the second element of the key: see userKey().
   */
  readonly order: 'none' | 'lane' | 'user'
  /** single: each call has one item, and `max` and `spanMs` apply only if a person changes the mode. Default: batch. */
  readonly mode?: 'single' | 'batch'
  /** The most items in one call, and the most bytes of their texts (§4.1 rule 3). */
  readonly max: number
  readonly bytes: number
  /** The most items that a person may set as `max`. Default: `max`. */
  readonly mostPerCall?: number
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
  /** Default: the user that the key names. */
  readonly userId?: string
  readonly traceparent?: string
  /** Epoch milliseconds. */
  readonly expiresAt?: number
  /** Sent before all items of its lane that are not transactional. Only for lanes without an order. */
  readonly transactional?: true
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
  /** held: the provider is unavailable and is probed, or the store can store nothing. paused: until a person resumes the lane. elsewhere: another process owns it. */
  readonly state: 'running' | 'held' | 'paused' | 'elsewhere'
  readonly heldForMs: number
  /** Why a held lane is held, in the words of the answer. */
  readonly heldReason?: string
  /** When a held lane sends its next probe, in epoch milliseconds. */
  readonly nextTryAt?: number
  /** The number of items in running calls. */
  readonly inFlight: number
  readonly lastError?: string
  readonly lastErrorAt?: number
  /** The controls of the lane and of its brand. */
  readonly controls: readonly Control[]
  /** How many waiting items each pause of an activity or action holds back, by the number of the control. */
  readonly heldBack: ReadonlyMap<number, number>
  /** The settings in effect. */
  readonly settings: LaneSettings
}

/** A lane that this process serves, or waits to own. */
export interface LaneService {
  readonly name: string
  /** The lane as it is configured. */
  readonly lane: Lane
  start(): void
  /** Starts no new calls, waits for running calls for at most `withinMs`, settles their items and releases the lane. */
  stop(withinMs?: number): Promise<void>
  state(): Promise<LaneState>
}

export interface FailedFilter {
  readonly lane?: string
  readonly activity?: string
  readonly action?: string
  readonly user?: string
  readonly reason?: string
  readonly state?: FailedState
  /** The failure was at this time or later, and before the other time (epoch ms). */
  readonly since?: number
  readonly until?: number
  /** A part of the error, compared literally. */
  readonly contains?: string
  /** Only these numbers. */
  readonly seqs?: readonly number[]
}
/** The members of a filter by which Failed Actions are counted. */
export type GroupFilter = Pick<FailedFilter, 'lane' | 'activity' | 'action' | 'reason' | 'state'>
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
  readonly state: FailedState
  /** How often it was replayed. */
  readonly replays: number
  readonly decidedBy: string | null
  readonly decidedAt: number | null
}
export interface FailedItemDetails extends FailedItem {
  /** Every unsuccessful attempt, the oldest first. */
  readonly history: readonly Attempt[]
  readonly identifiers: readonly Identifier[]
}
/** An unsuccessful attempt. Of many attempts, the first 20 and the last 20 are kept. */
export interface Attempt {
  /** How often the item was replayed before this attempt. */
  readonly replay: number
  /** The number of the attempt since the item was enqueued or replayed, from 1. 0: it failed without an attempt. */
  readonly attempt: number
  readonly at: number
  readonly outcome: 'fatal' | 'failed'
  /** The HTTP status of the answer. */
  readonly status: number | null
  readonly reason: string
  readonly rule: string
  readonly error: string
  readonly answer: string | null
  readonly call: string | null
  /** The name of the key that replayed the item after this failure, and the time. */
  readonly replayedBy: string | null
  readonly replayedAt: number | null
}
/** An identifier that the operator answered. `replayedAt`: the time of the replay that ended it; null: the present one. */
export interface Identifier {
  readonly ref: string
  readonly replayedAt: number | null
}
/** The failed items of one activity, action and reason in a lane, by state. */
export interface FailedGroup extends Readonly<Record<FailedState, number>> {
  readonly lane: string
  readonly activity: string | null
  readonly action: string | null
  readonly reason: string
}
export interface DecidedItems {
  readonly count: number
  /** The `after` of the next call, if there may be more items. */
  readonly next?: string
}
export interface FailedPreview extends DecidedItems {
  readonly groups: readonly FailedGroup[]
}
export interface Decision {
  /** The `next` of the previous call. */
  readonly after?: string
  /** Items per second of a replay. Default: the rate of the lane. */
  readonly perSecond?: number
  /** The name of the key that decided. */
  readonly by?: string
  /** Operations for each commit, which decides about this many items. */
  readonly also?: (count: number) => readonly Op[]
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
export interface FoundItem extends ItemOutcome, Pick<Item, 'key' | 'enqueuedAt'> {
  /** How often it was replayed; absent: never. */
  readonly replays?: number
  /** The identifiers before a replay, the oldest first. */
  readonly earlierRefs?: readonly string[]
  /** The unsuccessful attempts, the oldest first. Not for a search by user. */
  readonly history?: readonly Attempt[]
  /** The text was erased: the item cannot be replayed. */
  readonly erased?: true
}

export interface ItemDetails extends Omit<FoundItem, 'earlierRefs'> {
  readonly history: readonly Attempt[]
  /** All identifiers that the operator answered; the present one is the last. */
  readonly identifiers: readonly Identifier[]
  readonly expiresAt?: number
  readonly transactional?: true
  /** Absent while the item waits. */
  readonly settledAt?: number
  /** The last decision about an item that is or was in Failed Actions. */
  readonly failed?: { readonly state: FailedState; readonly by: string | null; readonly at: number | null }
  /** The process that owns the lane now. */
  readonly owner?: string
}

/** paused: waiting items that a pause of their activity or action holds back. */
export interface CountedItems {
  readonly lane: string
  readonly category: ItemOutcome['category'] | 'paused'
  readonly items: number
}

/** Stores items. */
export interface QueueInput {
  /** Operations that enqueue these items, for a commit together with other operations. Existing items do not change. */
  enqueueOps(lane: string, items: readonly NewItem[]): readonly Op[]
  /** The items are durable when the promise resolves. The result has the order of `items`. */
  enqueue(lane: string, items: readonly NewItem[]): Promise<readonly EnqueuedItem[]>
  /** Operations that insert these items into Failed Actions. An item that is there already becomes pending again. */
  insertFailedOps(lane: string, items: readonly NewFailedItem[]): readonly Op[]
}

/** Serves lanes, and changes them while they run. */
export interface Lanes {
  serveLane(lane: Lane, handle: LaneHandler): LaneService
  /**
   * Stores controls. They apply at once, whichever process owns the lane: if it is this process, no call that they forbid starts
   * after the promise resolves. A control replaces an earlier control with the same scope, kind and name.
   *
   * @param also operations for the same commit
   */
  setControls(controls: readonly NewControl[], also?: readonly Op[]): Promise<void>
  /** Ends controls. @returns those that existed */
  endControls(keys: readonly ControlKey[], by: string, also?: readonly Op[]): Promise<readonly ControlKey[]>
  /** Held lanes send their next probe now, even before the end of a pause that their provider asked for. */
  probeLanes(lanes: readonly string[]): Promise<void>
  /** Counts the selected items among the next 20,000 waiting items of a lane. They may be in running calls. */
  countSelected(lane: string, selection: WaitingSelection, after?: string): Promise<WaitingCount>
  /**
   * Cancels the selected items that wait now: they fail with the reason `cancelled`, and are in Failed Actions. Items in running
   * calls are cancelled only if they must be sent again. The owner of the lane does it, in steps, after the promise resolves.
   */
  cancelWaiting(cancellations: readonly NewCancellation[], also?: readonly Op[]): Promise<void>
  /** The cancellations of these lanes, the newest first. */
  listCancellations(lanes: readonly string[], limit: number): Promise<readonly Cancellation[]>
}

/** Failed Actions (§6.4). */
export interface FailedActions {
  /** A page of Failed Actions, sorted by number, which may be short. `next` is the cursor of the next page, if there is one. */
  listFailed(
    filter: FailedFilter,
    page: { readonly after: number; readonly limit: number },
  ): Promise<{ readonly items: readonly FailedItem[]; readonly next?: number }>
  findFailed(seq: number): Promise<FailedItemDetails | undefined>
  /** Counts Failed Actions by group, also of millions of items. */
  summarizeFailed(filter: GroupFilter): Promise<readonly FailedGroup[]>
  /** Counts the items that a decision would change. `after`: the `next` of the previous call. */
  previewFailed(filter: FailedFilter, action: 'dismiss' | 'replay', after?: string): Promise<FailedPreview>
  /** Dismisses or replays at most about 20,000 matching items. Default state: pending. */
  decideFailed(filter: FailedFilter, action: 'dismiss' | 'replay', decision?: Decision): Promise<DecidedItems>
}

/** Finds items. */
export interface LookUps {
  /** Outcomes in the order of `seqs`, without unknown numbers. */
  readOutcomes(seqs: readonly number[]): Promise<readonly ItemOutcome[]>
  /** All that is stored about an item, without its text. */
  findItem(seq: number): Promise<ItemDetails | undefined>
  /** Sorted by number. The items of a user are sorted from the newest to the oldest. */
  findItems(search: ItemSearch): Promise<readonly FoundItem[]>
  /** The number of items of each lane and category. */
  countItems(): Promise<readonly CountedItems[]>
}

export interface Queue extends QueueInput, Lanes, FailedActions, LookUps {}

/** The queue of one database. */
export interface StoredQueue extends Queue {
  /** The number of the store to which a brand has moved since the start. Known while this process serves a lane of this store. */
  movedTo(brand: string): number | undefined
  /** Deletes a bounded number of items that were settled before `before`. @returns how many; 0: none are left */
  forgetSettled(before: number): Promise<number>
  /** Deletes a bounded number of attempts from before `before`. @returns how many; 0: none are left */
  forgetEvidence(before: number): Promise<number>
}
