// What happens, as one typed list. The engine emits facts; log, metrics, the demo's text and the tests' waits subscribe.
// Nothing else logs. Carried by node:diagnostics_channel under the names 'bellwire:<event>', so that tools can listen too.

import { channel } from 'node:diagnostics_channel'

export interface Events {
  // how a process lives
  'server.listening': { side: 'operator' | 'platform'; url: string }
  'server.stopping': { side: 'operator' | 'platform' }
  'loop.failed': { loop: string; error: string; inMs: number }
  'store.lost': { error: string }
  'store.back': { downMs: number }
  'store.commit': { callers: number; rows: number; ms: number; durable: boolean }
  'store.repeated': { callers: number; error: string }
  // requests that were answered with an error
  'request.refused': { side: 'operator' | 'platform'; method: string; path: string; status: number; error: string }
  // the send path (operator)
  'message.received': { channel: string; count: number; mode: 'single' | 'batch' }
  'message.invalid': { channel: string; error: string; reportable: boolean }
  'message.claimed': { brand: string; ref: string; attempt: number }
  'message.repeated': { brand: string; ref: string; category: string }
  'message.taken_over': { brand: string; ref: string; attempt: number; uncertain: boolean }
  'message.other_parts': { brand: string; id: string }
  'message.suppressed': { brand: string; ref: string; why: string }
  'message.calling': { provider: string; refs: readonly string[] }
  'message.settled': {
    brand: string
    channel: string
    ref: string
    category: string
    rule: string
    attempt: number
    uncertain: boolean
  }
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
  'provider.paused': { provider: string; reason: string; untilMs: number }
  'provider.resumed': { provider: string }
  'provider.alert': { provider: string; error: string; remedy: string }
  'answer.warning': { provider: string; warning: string }
  // the queue (platform)
  'queue.put': { lane: string; accepted: number; repeated: number }
  'lane.owned': { lane: string }
  'lane.lost': { lane: string }
  'lane.held': { lane: string; reason: string; forMs: number }
  'lane.paused': { lane: string; reason: string }
  'lane.resumed': { lane: string }
  'lane.released': { lane: string; heldMs: number }
  'batch.sent': { lane: string; items: number; bytes: number; full: boolean }
  'item.settled': { lane: string; seq: number; category: string; attempt: number; rule: string }
  'item.retry': { lane: string; seq: number; attempt: number; reason: string; inMs: number }
  // the inbox
  'inbox.shown': { brand: string; userId: string; ref: string; streams: number }
  'inbox.opened': { brand: string; userId: string; streams: number }
  'inbox.closed': { brand: string; userId: string; streams: number; why: 'client' | 'slow' | 'expired' | 'stopping' }
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

/** Costs a map look-up when nobody listens. Build expensive payloads only behind listened(). */
export function emit<Name extends EventName>(name: Name, event: Events[Name]): void {
  const target = channelOf(name)
  if (target.hasSubscribers) target.publish(event)
}

export function listened(name: EventName): boolean {
  return channelOf(name).hasSubscribers
}

/** @returns a function that ends the subscription */
export function on<Name extends EventName>(name: Name, listener: (event: Events[Name]) => void): () => void {
  const target = channelOf(name)
  const receive = (event: unknown): void => listener(event as Events[Name])
  target.subscribe(receive)
  return () => void target.unsubscribe(receive)
}
