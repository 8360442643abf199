export interface HttpErrorOptions extends ErrorOptions {
  /** The log counts such refusals (events.ts, `keys.refused`) instead of writing a line for each. */
  readonly counted?: boolean
}

/** An error that is answered as it is: a status and a sentence that names the remedy. `cause` goes to the log only. */
export class HttpError extends Error {
  readonly status: number
  readonly retryAfterSeconds: number | undefined
  readonly counted: boolean
  constructor(status: number, message: string, retryAfterSeconds?: number, options: HttpErrorOptions = {}) {
    super(message, options)
    this.status = status
    this.retryAfterSeconds = retryAfterSeconds
    this.counted = options.counted ?? false
  }
}
