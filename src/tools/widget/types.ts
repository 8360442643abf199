/** A notification, as the operator's API returns it. Times are ISO 8601; null: not marked. */
export interface InboxNotification {
  readonly site_notification_id: string
  /** `activity.id` */
  readonly id: string
  readonly title: string | null
  readonly body: string | null
  readonly image_url: string | null
  readonly url: string | null
  readonly data: Readonly<Record<string, unknown>> | null
  readonly created_at: string
  readonly expires_at: string | null
  readonly seen_at: string | null
  readonly read_at: string | null
  readonly clicked_at: string | null
  readonly dismissed_at: string | null
  readonly archived_at: string | null
}

export type Mark = 'seen' | 'read' | 'clicked' | 'dismissed' | 'archived'

export interface InboxCounts {
  readonly unseen: number
  readonly unread: number
}

export interface InboxPage extends InboxCounts {
  readonly items: readonly InboxNotification[]
  /** The `before` of the following page; null: this is the last page. */
  readonly next: string | null
  readonly last_event_id: string
}

/**
 * - `loading`: the list was not received yet.
 * - `live`: new notifications appear by themselves.
 * - `offline`: there is no connection; the client connects again by itself.
 * - `closed`: the operator keeps the inbox of this user closed (403). `reason` is its answer.
 * - `signed-out`: `getToken` returned no token.
 */
export type InboxStatus = 'loading' | 'live' | 'offline' | 'closed' | 'signed-out'

export interface InboxState extends InboxCounts {
  readonly status: InboxStatus
  readonly reason: string | null
  /** The list was received; `items` may be empty. */
  readonly listed: boolean
  /** Newest first, without dismissed, archived and expired notifications. */
  readonly items: readonly InboxNotification[]
  /** There are older notifications: call `loadMore`. */
  readonly more: boolean
}

export interface InboxOptions {
  /** The operator's URL, such as `https://api.example.com`. */
  readonly url: string
  /** Returns a new subscriber token from your backend, or null if no user is signed in. Called again when a token has expired. */
  readonly getToken: () => Promise<string | null> | string | null
  /** Notifications in a page of the list. Default: 25. */
  readonly pageSize?: number
}

export interface Inbox {
  readonly state: InboxState
  /** Calls the listener after each change of `state`. @returns a function that ends the subscription */
  subscribe(listener: () => void): () => void
  /** Calls the listener for each notification that arrives while the client runs. @returns a function that ends the subscription */
  onArrival(listener: (notification: InboxNotification) => void): () => void
  /** Fetches the list, then follows the stream. Without effect while the client runs. */
  start(): void
  /** Ends the stream. `start` may be called again. */
  stop(): void
  /** Marks notifications, on all devices of the user. Rejects, and takes the mark back, if the operator cannot be reached. */
  mark(as: Mark, siteNotificationIds: readonly string[]): Promise<void>
  /** Marks all notifications that have arrived here. */
  markAll(as: Mark): Promise<void>
  /** Adds the next page of older notifications to `state.items`. */
  loadMore(): Promise<void>
  /** Fetches a page without a change of `state`, such as the archive. */
  list(query?: { readonly archived?: boolean; readonly before?: string }): Promise<InboxPage>
}
