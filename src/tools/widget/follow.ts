// Keeps a client up to date: the list, then the events of the stream. The leader of the tabs has the stream and passes each event
// on to the other tabs.

import { readEvents } from './event-stream.ts'
import { type OperatorCalls, OtherUser, Refused, SignedOut } from './operator-calls.ts'
import { delayAfter, pause } from './pause.ts'
import { joinTabs, type TabMessage } from './tab-group.ts'
import type { Token } from './token.ts'
import type { InboxState, InboxStatus } from './types.ts'
import { createWarnings } from './warnings.ts'

/** The state of a client, as the stream changes it. */
export interface View {
  readonly state: InboxState
  /** The last event that the state contains. */
  readonly position: number
  set(change: Partial<InboxState>): void
  /** Fetches the list, which contains all events up to the new position. */
  list(signal: AbortSignal): Promise<void>
  apply(event: string | undefined, id: number, data: string): void
  /** Shows this user from now on. The state of another user is removed. */
  show(user: string): void
  clear(): void
}

const firstRetryMs = 1_000
/** The wait after a token could not be renewed. */
const renewalRetryMs = 30_000

/** Follows the inbox until the signal aborts, the operator closes the inbox, or no user is signed in. */
export async function follow(url: string, calls: OperatorCalls, view: View, signal: AbortSignal): Promise<void> {
  let failures = 0
  // biome-ignore lint/suspicious/noConsole: the page shows users no more than an outage
  const warnOnce = createWarnings(url, location.origin, (text) => console.warn(text))
  while (!signal.aborted) {
    try {
      const token = await calls.token()
      const name = `bellwire-inbox ${JSON.stringify([url, token.brand, token.user])}`
      view.show(name)
      await followUser(name, token, calls, view, signal, () => {
        failures = 0
      })
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof OtherUser) continue
      if (error instanceof SignedOut) {
        view.clear()
        return view.set({ status: 'signed-out' })
      }
      if (error instanceof Refused && error.status === 403) {
        view.clear()
        return view.set({ status: 'closed', reason: error.message })
      }
      failures++
      if (navigator.onLine) warnOnce(error)
      view.set({ status: 'offline' })
      await pause(delayAfter(failures, firstRetryMs, retryAfterOf(error)), signal)
    }
  }
}

async function followUser(
  name: string,
  token: Token,
  calls: OperatorCalls,
  view: View,
  stopped: AbortSignal,
  onListed: () => void,
): Promise<void> {
  const failed = new AbortController()
  const signal = AbortSignal.any([stopped, failed.signal])
  let leads = false
  let renewal = 0
  /** The list that is being fetched, and the messages that arrive meanwhile. */
  let listing: Promise<void> | undefined
  let waiting: TabMessage[] | undefined
  // Joined before the list is fetched, so that no event between the two is missed.
  const tabs = joinTabs(name, (message) => {
    if (waiting) waiting.push(message)
    else receive(message)
  })
  renewAfter(freshMs(token))
  try {
    await list()
    onListed()
    tabs.post({ kind: 'ask' })
    await tabs.lead(signal, lead)
  } catch (error) {
    throw failed.signal.aborted ? failed.signal.reason : error
  } finally {
    leads = false
    failed.abort()
    clearTimeout(renewal)
    tabs.leave()
  }

  /** Renews the token before it expires: a click that leaves the page cannot wait for a new one. */
  function renewAfter(waitMs: number): void {
    renewal = setTimeout(async () => {
      const renewed = await calls.renew().catch((error: unknown) => {
        if (isFinal(error)) failed.abort(error)
      })
      if (!signal.aborted) renewAfter(renewed ? freshMs(renewed) : renewalRetryMs)
    }, waitMs)
  }

  async function list(): Promise<void> {
    listing = fetchList()
    await listing
  }

  async function fetchList(): Promise<void> {
    const received: TabMessage[] = []
    waiting = received
    try {
      await view.list(signal)
    } finally {
      waiting = undefined
    }
    received.forEach(receive)
  }

  function receive(message: TabMessage): void {
    if (waiting) {
      waiting.push(message)
    } else if (message.kind === 'ask') {
      if (leads) tabs.post({ kind: 'status', status: view.state.status, position: view.position })
    } else if (leads) {
      // The previous leader ends.
    } else if (message.kind === 'reset') {
      listAgain()
    } else if (message.kind === 'status') {
      view.set({ status: message.status })
      if (message.position > view.position) listAgain()
    } else if (message.previous > view.position) {
      listAgain()
    } else {
      view.apply(message.event, message.id, message.data)
    }
  }

  function listAgain(): void {
    list().catch((error) => failed.abort(error))
  }

  /** Has the stream, and connects again until the signal aborts. */
  async function lead(): Promise<void> {
    // A list that arrives later would lack the events of the stream.
    await listing
    leads = true
    let failures = 0
    let retryMs = firstRetryMs
    while (!signal.aborted) {
      let retryAfterMs = 0
      let wasReady = false
      const onReady = (): void => {
        failures = 0
        wasReady = true
      }
      try {
        const ready = await stream({ onRetry: (ms) => (retryMs = ms), onReady })
        if (ready) {
          // The token has expired: the next stream opens at once, with another one.
          calls.dropToken()
          continue
        }
        failures++
      } catch (error) {
        if (signal.aborted || isFinal(error)) throw error
        failures++
        retryAfterMs = retryAfterOf(error)
      }
      // Some proxies cut each long response. The next stream shows whether there is a connection.
      if (!wasReady || !navigator.onLine) share('offline')
      await pause(delayAfter(failures, retryMs, retryAfterMs), signal)
    }
  }

  /** @returns whether the operator, in order, ended a stream that was ready */
  async function stream(on: { onRetry(ms: number): void; onReady(): void }): Promise<boolean> {
    const cut = new AbortController()
    const ended = new AbortController()
    addEventListener('offline', () => cut.abort(new Error('the device is offline')), { signal: ended.signal })
    let ready = false
    try {
      const response = await calls.call('/app/inbox/stream', {
        endless: true,
        headers: { 'last-event-id': String(view.position) },
        signal: AbortSignal.any([signal, cut.signal]),
      })
      for await (const { event, id, data } of readEvents(response.body as ReadableStream<Uint8Array>, on.onRetry)) {
        if (event === 'reset') {
          await list()
          tabs.post({ kind: 'reset' })
          continue
        }
        const message = { kind: 'event', event, id: Number(id), data, previous: view.position } as const
        view.apply(event, message.id, data)
        tabs.post(message)
        if (event !== 'ready') continue
        ready = true
        on.onReady()
        share('live')
      }
      return ready
    } finally {
      ended.abort()
    }
  }

  function share(status: InboxStatus): void {
    view.set({ status })
    tabs.post({ kind: 'status', status, position: view.position })
  }
}

/** The time after which a token is renewed. The bounds are for a lifetime that the operator refuses. */
function freshMs({ lifetimeMs }: Token): number {
  return Math.min(Math.max(lifetimeMs * 0.8, 1_000), 86_400_000)
}

/** No further attempt with this user can succeed. */
function isFinal(error: unknown): boolean {
  return error instanceof OtherUser || error instanceof SignedOut || (error instanceof Refused && error.status === 403)
}

function retryAfterOf(error: unknown): number {
  return error instanceof Refused ? error.retryAfterMs : 0
}
