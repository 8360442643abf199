/**
 * The store cannot answer now: its connection was lost, its disk is full, it is closing. Whether the transaction was
 * committed is unknown when the connection was lost in mid-flight. Try again later; whoever waits gets a 503, never a 4xx.
 */
export class StoreUnavailable extends Error {
  readonly code = 'unavailable'

  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StoreUnavailable'
  }
}
