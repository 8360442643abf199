/**
 * The store cannot answer now: its connection was lost, its disk is full, or it is closing. After a lost connection it is unknown
 * whether the transaction was committed. Retry later; HTTP requests are answered 503, never 4xx.
 */
export class StoreUnavailable extends Error {
  readonly code = 'unavailable'

  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StoreUnavailable'
  }
}

/** The store cannot change these rows now, because their brand is being moved or has moved. It answers for all other rows. */
export class RowsUnavailable extends StoreUnavailable {}

/** @returns undefined if the function throws StoreUnavailable */
export function unlessUnavailable<Result>(run: () => Result): Result | undefined {
  try {
    return run()
  } catch (error) {
    if (error instanceof StoreUnavailable) return undefined
    throw error
  }
}
