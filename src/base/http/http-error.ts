export interface HttpErrorOptions extends ErrorOptions {
  /** The log counts these errors (events.ts, `keys.refused`) instead of writing a line for each. */
  readonly counted?: boolean
}

/** An error that becomes the HTTP response: a status, and a message that names the remedy. `cause` is only logged. */
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
