// All events of the engine, as one typed list. The log, the metrics, the demo and the tests subscribe to them; nothing else logs.
// They are published on node:diagnostics_channel under the names 'bellwire:<event>', so that other tools can subscribe too.

import { channel } from 'node:diagnostics_channel'

export interface Events {
  // process and store
  'server.starting': {
    side: 'operator' | 'platform'
    store: string
    brands: string
    channels: string
    push_services?: string
    lanes: number
    device_links?: number
    intake?: number
  }
  'server.listening': { side: 'operator' | 'platform'; part?: 'admin'; url: string }
  /** SIGHUP: `count` in the last minute. */
  /** `restart`: the settings that changed, but need a restart. */
  'server.reloaded': { side: 'operator' | 'platform'; applied: readonly string[]; restart: readonly string[] }
  'server.reload_refused': { side: 'operator' | 'platform'; error: string }
  'process.as_root': { side: 'operator' | 'platform' }
  /** The act took effect. */
  'audit.failed': { side: 'operator' | 'platform'; act: string; error: string }
  'server.started': { side: 'operator' | 'platform' }
  'server.stopping': { side: 'operator' | 'platform' }
  /** An uncaught error: the process shuts down gracefully and exits with an error code. */
  'process.failed': { error: string; stack: string }
  /** `unavailable`: because a store is. `failures`: in a row. */
  'loop.failed': { loop: string; error: string; inMs: number; failures: number; unavailable: boolean }
  /** The store can store nothing: nothing is sent. `store.away` follows once a minute, until `store.back`. */
  'store.lost': { store: string; error: string }
  'store.away': { store: string; error: string; forMs: number }
  'store.back': { store: string; downMs: number }
  'store.commit': { callers: number; rows: number; ms: number; durable: boolean }
  'store.repeated': { callers: number; error: string }
  // requests answered with an error; `cause` is not in the response; requests with `counted` are also in requests.refused or keys.refused
  'request.refused': {
    side: 'operator' | 'platform'
    method: string
    path: string
    status: number
    error: string
    cause?: string
    counted?: true
  }
  /** Requests of users, or without a right key, of one address; path, status and error of the latest. */
  'requests.refused': { address: string; count: number; path: string; status: number; error: string; cause?: string }
  'keys.refused': { address: string; count: number }
  /** A right key from an address that its `from` does not list; the address of the latest. Also counted in `keys.refused`. */
  'key.address_refused': { name: string; address: string; count: number }
  'key.expired': { name: string; expiresAt: string; count: number }
  /** Once a day, from 14 days before, for a key that is used. */
  'key.expires': { name: string; expiresAt: string }
  /** A key of the store is not accepted: the configuration of this process has another one with its name, at `place`. */
  'key.name_taken': { name: string; place: string }
  'console.sign_in_refused': { issuer: string; error: string; count: number }
  /** Preflight requests of pages that may not call /app, with the origin of the latest. */
  'origins.refused': { origin: string; count: number }
  /** `route`: the pattern of its path; '' if the path does not exist. `status`: '2xx'. `ms`: until the answer began. */
  'request.answered': { side: 'operator' | 'platform'; method: string; route: string; status: string; ms: number }
  'connections.refused': { side: 'operator' | 'platform'; count: number }
  // the send path (operator)
  'message.received': { channel: string; count: number; mode: 'single' | 'batch' }
  'message.invalid': { channel: string; error: string; reportable: boolean }
  'messages.refused': { channel: string; count: number }
  /** Messages that exceed the rate of their API key. `first`: the key did not exceed it in the last minute. */
  'messages.limited': { key: string; channel: string; count: number; first: boolean }
  'message.claimed': { brand: string; ref: string; attempt: number }
  'message.repeated': { brand: string; ref: string; category: string }
  'message.taken_over': { brand: string; channel: string; ref: string; attempt: number; uncertain: boolean }
  'message.suppressed': { brand: string; ref: string; why: string }
  'message.without_text': { brand: string; channel: string }
  'content.unrecognised': { brand: string; channel: string; messages: number; pointers: string }
  /** The first message with a title or a text since the start. */
  'content.recognised': { brand: string; channel: string }
  'content.missing': { brand: string; messages: number; pointers: string }
  'message.calling': { provider: string; refs: readonly string[] }
  /** `id` is the activity.id. With `ref` it joins the log lines of the two sides. */
  'message.settled': {
    brand: string
    channel: string
    id: string
    ref: string
    category: string
    reason?: string
    rule: string
    attempt: number
    uncertain: boolean
  }
  'suppression.away': { source: string; error: string }
  /** The first answer of a source, since the start or after an outage. */
  'suppression.back': { source: string }
  /** A list of users has shrunk implausibly. Reported once a minute until a person confirms it. */
  'suppression.held': { source: string; why: string; remedy: string }
  /** A list of users is in force. */
  'suppression.accepted': { source: string }
  'budget.spent': { channel: string; unfinished: number }
  // providers
  'call.done': {
    provider: string
    messages: number
    ms: number
    rule: string
    fatal: number
    failed: number
    error?: string
  }
  /** `counterpart`: only this counterpart of a push service is paused. `sending`: messages for other counterparts are sent. */
  'provider.paused': { provider: string; counterpart?: string; reason: string; forMs: number; sending?: boolean }
  /** The provider refused a call for its quota: calls are made at half the rate, which recovers in five minutes. */
  'provider.slowed': { provider: string; perSecond: number; reason: string }
  'provider.resumed': { provider: string; counterpart?: string; sending?: boolean }
  /** The provider threw an error: a custom provider, or a bug in one of ours. */
  'provider.threw': { provider: string; error: string; stack: string }
  /** `isStop`: removals.stopped has the same cause. */
  'provider.alert': { provider: string; error: string; remedy: string; isStop?: true }
  /** Alerts could not be sent to a person: they are sent again. */
  'alerts.failed': { to: string; notices: number; error: string }
  'answer.warning': { provider: string; warning: string }
  // one push to one device; `device` is devices/identity.ts, never a token
  'device.sent': {
    brand: string
    ref: string
    device: string
    service: string
    category: string
    rule: string
    uncertain: boolean
  }
  'device.dropped': { brand: string; ref: string; device: string; service: string; why: string }
  'removals.stopped': { service: string; removals: number; sends: number }
  'removals.confirmed': { service: string; by: string }
  // the queue (platform)
  'queue.enqueued': { lane: string; accepted: number; repeated: number }
  'lane.owned': { lane: string }
  'lane.lost': { lane: string }
  /** This process gave the lane back, for another process. */
  'lane.returned': { lane: string }
  /** The brand is being moved to the store with this number, or has moved there. This process serves lanes of the brand. */
  'brand.moving': { brand: string; to: number }
  'brand.moved': { brand: string; to: number }
  'lanes.divided': { processes: number; owned: number; acquired: number; returned: number }
  'lane.held': { lane: string; reason: string; forMs: number }
  'lane.paused': { lane: string; by: string; reason: string }
  'lane.resumed': { lane: string }
  /** A person, or a lane itself, has changed lanes: see queue/controls/controls.ts. */
  'control.set': {
    scope: string
    kind: string
    name: string
    value?: string
    by: string
    reason: string
    expiresAt?: number
  }
  'control.ended': { scope: string; kind: string; name: string; by: string }
  'items.cancelled': { lane: string; items: number; by: string }
  'lane.released': { lane: string; heldMs: number }
  /** A person dismissed or replayed failed items. */
  'failed.decided': { action: 'dismiss' | 'replay'; count: number; by: string }
  'batch.sent': { lane: string; items: number; bytes: number; full: boolean }
  /** `id` is the activity.id of a message. `untracked`: delivered, but the answer has no identifier (row 6). */
  'item.settled': {
    lane: string
    seq: number
    id?: string
    ref?: string
    category: string
    reason?: string
    attempt: number
    rule: string
    /** Since the message was enqueued, also if it was replayed meanwhile. */
    ageMs: number
    untracked: boolean
  }
  'item.retry': { lane: string; seq: number; id?: string; attempt: number; reason: string; inMs: number }
  // devices
  'device.linked': { brand: string; userId: string; device: string; kind: string; origin: string }
  'device.moved': { brand: string; userId: string; from: string; device: string; kind: string; origin: string }
  'device.unlinked': { brand: string; userId: string; device: string; kind: string; origin: string }
  'device.clamped': { brand: string; device: string; what: string; origin: string; written: string; taken: string }
  'device.unreadable': { source: string; brand: string; error: string }
  'device.restored': { brand: string; count: number }
  'person.erased': { brand: string; erasure: string; rows: number }
  // reconciliation, the operator's side
  'reconciliation.begun': { brand: string; field: string; source: string }
  'reconciliation.ended': {
    brand: string
    field: string
    source: string
    ended: 'whole' | 'error' | 'client' | 'slow'
    users: number
    bytes: number
    ms: number
    error?: string
  }
  // the CRM and its reconciliation (platform)
  'crm.imported': { brand: string; users: number; changed: number; refused: number }
  'run.started': { brand: string; field: string; run: string; by: string }
  'run.ended': {
    brand: string
    field: string
    run: string
    state: string
    ids: number
    ms: number
    critical: number
    high: number
    low: number
    why?: string
    error?: string
  }
  'crm.corrected': {
    brand: string
    field: string
    run: string
    what: string
    applied: number
    skipped: number
  }
  // device links from broker to platform, and from operator to platform
  'consumer.lost': { consumer: string; error: string; inMs: number }
  'consumer.back': { consumer: string }
  'consumer.held': { consumer: string; messages: number; error: string; inMs: number }
  'consumer.released': { consumer: string }
  /** A delivery status was stored. */
  'status.reported': { lane: string; status: string; via: 'webhook' | 'poll' | 'own' }
  /** A page of statuses was polled from the operator of a lane. */
  'poll.done': { lane: string; records: number }
  'poll.failed': { lane: string; error: string; inMs: number }
  /** The operator does not know the cursor: its database was restored, or the cursor is too old. Polling goes on. */
  'poll.restarted': { lane: string }
  /** A lane has too many statuses of unknown messages: further ones are refused, and polling waits. */
  'statuses.full': { lane: string; statuses: number }
  'status.parked': { lane: string; code: string; reason: string }
  'message.parked': { lane: string; from: string; reason: string; bytes: number }
  // the inbox
  'inbox.shown': { brand: string; userId: string; ref: string; streams: number }
  'inbox.opened': { brand: string; userId: string; streams: number }
  'inbox.closed': {
    brand: string
    userId: string
    streams: number
    why: 'client' | 'slow' | 'expired' | 'refused' | 'replaced' | 'revoked' | 'stopping'
  }
}
export type EventName = keyof Events

const channels = new Map<string, ReturnType<typeof channel>>()
function channelOf(name: EventName): ReturnType<typeof channel> {
  const known = channels.get(name)
  if (known) return known
  const made = channel(`bellwire:${name}`)
  channels.set(name, made)
  return made
}

/** Without listeners it costs a map look-up. Check hasListeners() before building an expensive payload. */
export function emit<Name extends EventName>(name: Name, event: Events[Name]): void {
  const target = channelOf(name)
  if (target.hasSubscribers) target.publish(event)
}

export function hasListeners(name: EventName): boolean {
  return channelOf(name).hasSubscribers
}

/** @returns a function that ends the subscription */
export function on<Name extends EventName>(name: Name, listener: (event: Events[Name]) => void): () => void {
  const target = channelOf(name)
  const receive = (event: unknown): void => listener(event as Events[Name])
  target.subscribe(receive)
  return () => void target.unsubscribe(receive)
}
