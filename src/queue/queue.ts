// The joint to the queue: the one durable waiting room (design §6).

import type { Outcome, Reason } from '../contract/outcome.ts'
import type { Op } from '../store/database.ts'

export interface Item {
  readonly seq: number
  readonly lane: string
  /** Unique in its lane for ever: an item is put once. */
  readonly key: string
  readonly text: string
  /** This attempt, from 1. */
  readonly attempt: number
  /** Epoch milliseconds. */
  readonly putAt: number
  readonly traceparent?: string
}
export type Handled = Outcome & { readonly writes?: readonly Op[] }
export type Handle = (
  items: readonly Item[],
  context: { readonly deadline: number; readonly signal: AbortSignal },
) => Promise<readonly Handled[]>

export interface Lane {
  /** Begins with the brand: '1/push' (row 31). */
  readonly name: string
  /**
   * 'lane': one call at a time, a fatal holds those behind it. 'user': what belongs to one user goes in order and a fatal
   * holds those of that user behind it; the others go on. The user is the second element of the key: see userKey().
   */
  readonly order: 'none' | 'lane' | 'user'
  /** Most items in one call, most bytes of their texts, and the time span after which a batch goes even if not full (§4.1 rule 3). */
  readonly max: number
  readonly bytes: number
  readonly spanMs: number
  readonly concurrency: number
  /** Most items a second. */
  readonly perSecond?: number
  readonly timeoutMs: number
  /** Failed Actions on (§6.4): failed items are kept in full and listed; off: only counted. */
  readonly keepFailed: boolean
  readonly retry: { readonly firstMs: number; readonly mostMs: number; readonly attempts?: number }
  /** So many refusals in a row (401, 403, 404, 405 on singles) pause the lane until somebody looks. 100. */
  readonly refusals?: number
}

export interface NewItem {
  readonly key: string
  readonly text: string
  readonly traceparent?: string
}
/** An item that failed before it was ever handled. */
export interface ParkedItem extends NewItem {
  readonly reason: Reason
  readonly error: string
  readonly rule: string
}
/** Fresh: put by this very call. Not fresh: it had been put before, under this number. */
export interface Put {
  readonly seq: number
  readonly fresh: boolean
}

export interface LaneState {
  readonly name: string
  readonly waiting: number
  /** How long the oldest waiting item has been there; of items that were put off, the next 1,000 are looked at. */
  readonly oldestAgeMs: number
  /** By this process. */
  readonly owned: boolean
  /** held: the provider is away and probed; paused: until a person resumes it; elsewhere: another process serves it. */
  readonly state: 'running' | 'held' | 'paused' | 'elsewhere'
  readonly heldForMs: number
  /** Items in calls that were not answered yet. */
  readonly inFlight: number
  readonly lastError?: string
}

/** A lane as it is served by this process, or waits to be. */
export interface LaneService {
  readonly name: string
  start(): void
  /** Begins no new calls, lets running ones finish within the bound, settles, lets others have the lane. */
  stop(withinMs?: number): Promise<void>
  state(): Promise<LaneState>
  /** Ends a pause, wherever the lane is served. */
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
  /** The request element as it was put. */
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
  /** Items a second, for a replay that should not leave at once: each is due a little after the one before. */
  readonly perSecond?: number
  /** Who decided. */
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
  /** Why it failed; of one that waits: why it was not delivered yet, as far as this process knows. */
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
      /** Items with smaller numbers. */
      readonly before?: number
      /** 100. */
      readonly limit?: number
    }
)
export type FoundItem = ItemOutcome & Pick<Item, 'key' | 'putAt'>

export interface Queue {
  /** Ops that put these items, for a commit together with what caused them. What is there already stays as it is. */
  put(lane: string, items: readonly NewItem[]): readonly Op[]
  /** Ops that put these items among the failed ones, listed and to be replayed like any; what is there already is pending again. */
  park(lane: string, items: readonly ParkedItem[]): readonly Op[]
  /** Durable when it resolves; in the order of `items`. */
  enqueue(lane: string, items: readonly NewItem[]): Promise<readonly Put[]>
  serve(lane: Lane, handle: Handle): LaneService
  /** In the order of `seqs`; unknown ones are left out. */
  outcomes(seqs: readonly number[]): Promise<readonly ItemOutcome[]>
  /** By their numbers; of a user newest first. */
  find(search: ItemSearch): Promise<readonly FoundItem[]>
  /** Failed Actions by seq; `next` is where to go on, absent at the end. */
  failed(
    filter: FailedFilter,
    page: { readonly after: number; readonly limit: number },
  ): Promise<{ readonly items: readonly FailedItem[]; readonly next?: number }>
  /** Dismisses or replays what matches; without a state in the filter, what is pending. @returns how many */
  decide(filter: FailedFilter, what: 'dismiss' | 'replay', decision?: Decision): Promise<number>
  /** How many items there are of each lane and category. */
  count(): Promise<
    readonly { readonly lane: string; readonly category: ItemOutcome['category']; readonly items: number }[]
  >
  /** Forgets what was settled before `before`, a bounded step at a time. @returns how many items; 0: there is nothing more */
  forget(before: number): Promise<number>
}
