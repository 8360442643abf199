import type { Mail } from './mailbox.ts'

/** A real browser behind a subscription. */
export interface BrowserOptions {
  /** The last part of the endpoint's path. Default: random. */
  readonly id?: string
  readonly applicationServerKey?: string | undefined
  /** Sends a message to the browser. When the browser confirms it, call acknowledge() with its id. */
  readonly deliver: (mail: Mail) => void
  readonly online?: boolean
}

export interface BrowserSubscription {
  readonly endpoint: string
  acknowledge(id: string): void
  setOnline(online: boolean): void
  forget(): void
}
