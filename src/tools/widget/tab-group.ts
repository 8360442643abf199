import type { InboxStatus } from './types.ts'

/** A message between the tabs of one browser that show the inbox of the same user. */
export type TabMessage =
  /** A tab asks the leader for its status. */
  | { readonly kind: 'ask' }
  | { readonly kind: 'status'; readonly status: InboxStatus; readonly position: number }
  /** The leader received an event. `previous` is its position before the event: a tab that is behind it has missed one. */
  | {
      readonly kind: 'event'
      readonly event: string | undefined
      readonly id: number
      readonly data: string
      readonly previous: number
    }
  /** The leader missed too many events: each tab fetches the list. */
  | { readonly kind: 'reset' }

export interface TabGroup {
  post(message: TabMessage): void
  /** Waits until this tab is the leader, then runs the work. The next tab leads when the work ends, or this tab is closed. */
  lead(signal: AbortSignal, work: () => Promise<void>): Promise<void>
  leave(): void
}

/** Joins the tabs with this name. Names are per origin; a name contains the brand and the user. */
export function joinTabs(name: string, onMessage: (message: TabMessage) => void): TabGroup {
  const channel = new BroadcastChannel(name)
  channel.addEventListener('message', ({ data }) => onMessage(data as TabMessage))
  return {
    post: (message) => channel.postMessage(message),
    async lead(signal, work) {
      // Browsers have locks only on HTTPS and on localhost. Elsewhere each tab has a stream of its own.
      if (navigator.locks) await navigator.locks.request(name, { signal }, work)
      else await work()
    },
    leave: () => channel.close(),
  }
}
