// Follows one user's inbox: first the list, then the stream from the end of the list. A site can copy this file: it needs no
// framework and no build step, only `eventsource-parser`, because the browser's own EventSource cannot send a token in a header.

import { createParser } from '/vendor/eventsource-parser/index.js'

const pageSize = 30
/** The server sends a heartbeat every 15 seconds. If three are missing, the connection is dead. */
const silenceMs = 45_000

/**
 * @param {object} options
 * @param {string} options.url  The operator's URL, e.g. `https://api.example.com`.
 * @param {() => Promise<string>} options.getToken  Returns a new subscriber token from your backend. Called again after a 401.
 * @param {(notification: object, arrival: 'listed' | 'new' | 'changed') => void} options.onNotification  Called for each
 *   notification and for each change of its marks: show it, or replace the one with its site_notification_id.
 * @param {(counts: {unseen: number, unread: number}) => void} options.onCounts
 * @param {(state: 'connecting' | 'live' | 'reconnecting' | 'refused', error?: string) => void} options.onState
 * @returns {{stop: () => void, mark: (as: string, which: {ids: string[]} | {all: true}) => Promise<void>}}
 *   `mark` marks notifications as seen, read, clicked, dismissed or archived, on all devices of the user.
 */
export function followInbox({ url, getToken, onNotification, onCounts, onState }) {
  const stopped = new AbortController()
  /** The notifications by their identifiers, as text, so that a repetition is recognized. */
  const known = new Map()
  let token
  let lastEventId
  let retryMs = 1_000
  let failures = 0

  void follow()
  return { stop: () => stopped.abort(), mark }

  async function follow() {
    onState('connecting')
    while (!stopped.signal.aborted) {
      try {
        token ??= await getToken()
        if (lastEventId === undefined) await list()
        await stream()
      } catch (error) {
        if (stopped.signal.aborted) return
        if (error instanceof Refused) {
          if (error.status === 403) return onState('refused', error.message)
          if (error.status === 401) token = undefined
        }
        failures++
      }
      if (stopped.signal.aborted) return
      onState('reconnecting')
      await sleep(Math.min(retryMs * 2 ** Math.max(0, failures - 1), 15_000) * (0.5 + Math.random() / 2))
    }
  }

  async function list() {
    const response = await call(`/app/inbox?limit=${pageSize}`, {}, stopped.signal)
    const page = await response.json()
    for (const notification of page.items.reverse()) notify(notification, 'listed')
    onCounts(page)
    lastEventId = page.last_event_id
  }

  async function stream() {
    const silence = new AbortController()
    let timer
    const alive = () => {
      clearTimeout(timer)
      timer = setTimeout(() => silence.abort(), silenceMs)
    }
    try {
      alive()
      const signal = AbortSignal.any([stopped.signal, silence.signal])
      const response = await call('/app/inbox/stream', { 'last-event-id': lastEventId }, signal)
      let listAgain = false
      const parser = createParser({
        onRetry: (ms) => {
          retryMs = ms
        },
        onEvent: ({ event, id, data }) => {
          if (id !== undefined) lastEventId = id
          if (event === 'notification') notify(JSON.parse(data))
          else if (event === 'counts') onCounts(JSON.parse(data))
          else if (event === 'reset') listAgain = true
          else if (event === 'ready') {
            failures = 0
            onState('live')
          }
        },
      })
      for await (const text of chunks(response.body)) {
        alive()
        parser.feed(text)
        // Too many notifications were missed, so the stream does not send them.
        if (listAgain) {
          listAgain = false
          await list()
        }
      }
    } finally {
      clearTimeout(timer)
    }
  }

  function notify(notification, arrival) {
    const { site_notification_id: id } = notification
    const text = JSON.stringify(notification)
    if (known.get(id) === text) return
    const arrivedAs = arrival ?? (known.has(id) ? 'changed' : 'new')
    known.set(id, text)
    onNotification(notification, arrivedAs)
  }

  async function mark(as, which) {
    const body = JSON.stringify({ as, ...('all' in which ? { up_to: lastEventId } : { site_notification_ids: which.ids }) })
    const response = await call('/app/inbox/mark', { 'content-type': 'application/json' }, stopped.signal, body)
    onCounts(await response.json())
  }

  async function call(path, headers, signal, body) {
    const response = await fetch(url + path, {
      headers: { authorization: `Bearer ${token}`, ...headers },
      cache: 'no-store',
      signal,
      ...(body !== undefined && { method: 'POST', body, keepalive: true }),
    })
    if (response.ok) return response
    const { error } = await response.json().catch(() => ({}))
    throw new Refused(response.status, error ?? `HTTP ${response.status}`)
  }

  function sleep(ms) {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        window.removeEventListener('online', done)
        stopped.signal.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      window.addEventListener('online', done)
      stopped.signal.addEventListener('abort', done)
    })
  }
}

class Refused extends Error {
  constructor(status, message) {
    super(message)
    this.status = status
  }
}

// Some browsers do not support `for await` over a stream.
async function* chunks(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  while (true) {
    const { done, value } = await reader.read()
    if (done) return
    yield value
  }
}
