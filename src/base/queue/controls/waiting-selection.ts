// Requests to cancel what waits in a lane.

/** Selects waiting items. An empty selection matches every item. */
export interface WaitingSelection {
  readonly activity?: string
  readonly action?: string
  readonly user?: string
  /** Epoch milliseconds: enqueued at or after this time. */
  readonly enqueuedAfter?: number
  /** Epoch milliseconds: enqueued before this time. */
  readonly enqueuedBefore?: number
}

export interface NewCancellation extends WaitingSelection {
  /** A unique text. A request with a known id changes nothing, so it may be repeated. */
  readonly id: string
  readonly lane: string
  /** The name of the key. */
  readonly by: string
  readonly reason: string
}

export interface Cancellation extends NewCancellation {
  readonly at: number
  /** The highest number of an item at the time of the request. Later items are not cancelled. */
  readonly lastSeq: number
  /** How many items were cancelled so far. */
  readonly cancelled: number
  /** When all waiting items were examined. Absent: the owner of the lane still works. */
  readonly doneAt?: number
}

export interface WaitingCount {
  readonly count: number
  /** The `after` of the next call. Absent: all waiting items of the lane were examined. */
  readonly next?: string
}
