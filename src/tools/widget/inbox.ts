import { follow } from './follow.ts'
import {
  appendPage,
  initialState,
  nextExpiry,
  withCounts,
  withMark,
  withNotification,
  withoutExpired,
  withoutMark,
} from './inbox-state.ts'
import { createOperatorCalls, OtherUser, Refused } from './operator-calls.ts'
import { delayAfter } from './pause.ts'
import type { Inbox, InboxCounts, InboxNotification, InboxOptions, InboxPage, InboxState, Mark } from './types.ts'

export type * from './types.ts'

const markAttempts = 3

/** Longest delay of a timer of the browser. */
const longestTimerMs = 2 ** 31 - 1

/**
 * A client of the inbox without a user interface: the state of one user's inbox, kept up to date in every tab. All tabs of a
 * browser share one stream.
 *
 * @example
 * const inbox = createInbox({ url: 'https://api.example.com', getToken: () => fetchToken() })
 * inbox.subscribe(() => render(inbox.state))
 * inbox.start()
 */
export function createInbox(options: InboxOptions): Inbox {
  const calls = createOperatorCalls(options)
  const { pageSize = 25 } = options
  const listeners = new Set<() => void>()
  const arrivalListeners = new Set<(notification: InboxNotification) => void>()
  let state = initialState
  let running: AbortController | undefined
  /** The user of the notifications in `state`. An answer to a call for another user changes nothing. */
  let user: string | undefined
  let expiry = 0
  /** The last event that `state` contains. */
  let position = 0
  let next: string | null = null
  let loading: Promise<void> | undefined

  return {
    get state() {
      return state
    },
    subscribe: (listener) => subscribe(listeners, listener),
    onArrival: (listener) => subscribe(arrivalListeners, listener),
    start() {
      if (running) return
      const started = new AbortController()
      running = started
      void follow(options.url, calls, view(), started.signal).then(() => {
        if (running === started) running = undefined
      })
    },
    stop() {
      running?.abort()
      running = undefined
      clearTimeout(expiry)
    },
    mark: (as, ids) => mark(as, ids),
    markAll: (as) => mark(as, 'all'),
    loadMore() {
      if (next === null) return Promise.resolve()
      loading ??= loadOlder(next).finally(() => {
        loading = undefined
      })
      return loading
    },
    list: fetchPage,
  }

  /** The part of the client that the stream changes. */
  function view() {
    return {
      get state() {
        return state
      },
      get position() {
        return position
      },
      set,
      async list(signal: AbortSignal): Promise<void> {
        const page = await fetchPage({}, signal)
        signal.throwIfAborted()
        position = Number(page.last_event_id)
        next = page.next
        const { items, unseen, unread } = page
        set({ listed: true, items, unseen, unread, more: next !== null })
      },
      apply(event: string | undefined, id: number, data: string): void {
        if (event === 'notification' && id > position) showNotification(JSON.parse(data))
        if (event === 'counts' && id >= position) set(withCounts(state, JSON.parse(data)))
        position = Math.max(position, id)
      },
      show(shown: string): void {
        if (user !== undefined && user !== shown) clear()
        user = shown
      },
      clear,
    }
  }

  function clear(): void {
    user = undefined
    position = 0
    next = null
    set(initialState)
  }

  function showNotification(notification: InboxNotification): void {
    const { state: changed, arrived } = withNotification(state, notification, calls.now())
    set(changed)
    if (arrived) for (const listener of arrivalListeners) listener(notification)
  }

  function set(change: Partial<InboxState>): void {
    state = { ...state, ...change }
    for (const listener of listeners) listener()
    clearTimeout(expiry)
    const at = nextExpiry(state)
    if (at === undefined || !running) return
    const removeExpired = (): void => set(withoutExpired(state, calls.now()))
    expiry = setTimeout(removeExpired, Math.min(Math.max(at - calls.now(), 0), longestTimerMs))
  }

  async function mark(as: Mark, ids: readonly string[] | 'all'): Promise<void> {
    const before = state
    const marker = user
    set(withMark(state, as, ids, new Date().toISOString()))
    try {
      const which = ids === 'all' ? { up_to: String(position) } : { site_notification_ids: ids }
      const response = await sendMark({ as, ...which })
      const counts: InboxCounts = await response.json()
      // The state has changed since the request.
      if (user === marker) set(withCounts(state, counts))
    } catch (error) {
      if (user === marker) set(withoutMark(state, before, ids))
      throw error
    }
  }

  /** Sends a mark again if the operator refuses it for a moment: it has too many requests of the user, or starts again. */
  async function sendMark(body: object): Promise<Response> {
    const marker = user
    for (let attempt = 1; ; attempt++) {
      try {
        return await calls.call('/app/inbox/mark', { body })
      } catch (error) {
        const isBrief = error instanceof Refused && (error.status === 429 || error.status === 503)
        if (!isBrief || attempt === markAttempts) throw error
        await new Promise((resolve) => setTimeout(resolve, delayAfter(attempt, 500, error.retryAfterMs)))
        if (user !== marker) throw new OtherUser('another user is signed in')
      }
    }
  }

  async function loadOlder(before: string): Promise<void> {
    const reader = user
    const page = await fetchPage({ before })
    // The list was fetched again in the meantime.
    if (next !== before || user !== reader) return
    next = page.next
    set(appendPage(state, page))
  }

  async function fetchPage(
    { archived = false, before }: { readonly archived?: boolean; readonly before?: string } = {},
    signal?: AbortSignal,
  ): Promise<InboxPage> {
    const query = new URLSearchParams({ limit: String(pageSize), ...(before && { before }) })
    if (archived) query.set('archived', 'true')
    const response = await calls.call(`/app/inbox?${query}`, signal ? { signal } : {})
    return response.json()
  }
}

function subscribe<Listener>(listeners: Set<Listener>, listener: Listener): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}
