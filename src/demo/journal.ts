import { on } from '../runtime/events.ts'
import type { Clients, KnownOutcome } from './clients.ts'
import { type Entry, entryOf, nobody, type State } from './entry.ts'
import type { Phones } from './phones.ts'
import type { Sample } from './records.ts'
import { findPush, inWords } from './whereabouts.ts'

export interface Journal {
  /** Sends through the platform and follows each message from there. */
  send(samples: readonly Sample[], unreadable?: readonly object[]): Promise<readonly Entry[]>
  /** All that is not too old, oldest first. */
  readonly entries: readonly Entry[]
  onChange(listener: (entry: Entry) => void): () => void
  /** Resolves when none of these is waiting any more, rejects when the signal aborts. */
  settled(entries: readonly Entry[], signal: AbortSignal): Promise<void>
  stop(): void
}

const kept = 200
const askAgainMs = 500

/**
 * Follows messages by the engine's events, asks the platform for the outcome, as a program of somebody else's would, and looks
 * at the phones.
 */
export function createJournal(clients: Clients, phones: Phones): Journal {
  const entries: Entry[] = []
  const bySeq = new Map<number, Entry>()
  const byRef = new Map<string, Entry>()
  /** Settled, but the answer to our own request, which names the number, is not here yet. */
  const early = new Map<number, number>()
  const shown = new Map<string, number>()
  /** Pushes that wait for a device. */
  const awaited = new Set<Entry>()
  const listeners = new Set<(entry: Entry) => void>()
  let asking = false
  let stopped = false
  const due = new Set<number>()

  const unsubscribe = [
    on('item.settled', ({ seq }) => {
      const entry = bySeq.get(seq)
      if (entry) lookUp(entry, Date.now())
      else early.set(seq, Date.now())
    }),
    on('inbox.shown', ({ ref, streams }) => {
      shown.set(ref, streams)
      const entry = byRef.get(ref)
      if (entry) tellShown(entry)
    }),
    on('item.retry', ({ seq, reason, inMs }) => {
      const entry = bySeq.get(seq)
      if (entry) tellDelay([entry], `not delivered yet (${reason})`, inMs)
    }),
    on('lane.held', ({ lane, reason, forMs }) => {
      const behind = entries.filter(({ brand, channel }) => `${brand}/${channel}` === lane)
      tellDelay(behind, `the operator does not answer (${reason})`, forMs)
    }),
    phones.onChange(() => awaited.forEach(lookForPush)),
  ]

  return {
    entries,
    async send(samples, unreadable = []) {
      const sent: Entry[] = []
      for (const channel of ['site', 'push'] as const) {
        const mine = samples.filter((sample) => sample.channel === channel)
        const bad = channel === 'push' ? unreadable : []
        if (mine.length + bad.length === 0) continue
        const at = Date.now()
        const answer = await clients.enqueue(channel, [...mine.map(({ record }) => record), ...bad])
        const seqs = answer.seqs.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, i) => from + i))
        for (const [index, sample] of mine.entries()) sent.push(add(entryOf(sample, at), seqs[index]))
        for (const { line, error } of answer.refused)
          sent.push(add({ ...nobody(channel, at, line), note: `Line ${line}: ${error}` }, undefined))
      }
      return sent
    },
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    settled(waited, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const look = (): void => {
        if (waited.every(({ state }) => state !== 'waiting')) resolve()
      }
      const aborted = (): void => reject(signal.reason)
      listeners.add(look)
      signal.addEventListener('abort', aborted)
      look()
      return promise.finally(() => {
        listeners.delete(look)
        signal.removeEventListener('abort', aborted)
      })
    },
    stop() {
      stopped = true
      for (const end of unsubscribe) end()
    },
  }

  function add(entry: Entry, seq: number | undefined): Entry {
    entries.push(entry)
    for (const old of entries.splice(0, entries.length - kept)) forget(old)
    if (seq !== undefined) {
      entry.seq = seq
      bySeq.set(seq, entry)
    }
    changed(entry)
    const settledAt = seq === undefined ? undefined : early.get(seq)
    if (seq !== undefined && settledAt !== undefined) {
      early.delete(seq)
      lookUp(entry, settledAt)
    }
    return entry
  }

  function forget(entry: Entry): void {
    const { seq, ref } = entry
    awaited.delete(entry)
    if (seq !== undefined) {
      bySeq.delete(seq)
      due.delete(seq)
    }
    if (ref === undefined) return
    byRef.delete(ref)
    shown.delete(ref)
  }

  function lookUp(entry: Entry, settledAt: number): void {
    entry.ms = Math.max(0, settledAt - entry.at)
    due.add(entry.seq as number)
    if (!asking) void ask()
  }

  async function ask(): Promise<void> {
    asking = true
    // Those that are settled together are asked for together.
    let restMs = 20
    while (due.size > 0) {
      await new Promise((resolve) => setTimeout(resolve, restMs))
      if (stopped) return
      const outcomes = await clients.outcomes([...due]).catch(() => [])
      restMs = outcomes.some(({ category }) => category !== 'waiting') ? 20 : askAgainMs
      for (const outcome of outcomes) {
        const entry = bySeq.get(outcome.seq)
        if (!entry || outcome.category === 'waiting') continue
        due.delete(outcome.seq)
        entry.state = stateOf(outcome)
        delete entry.note
        if (outcome.error !== undefined) entry.note = outcome.error
        if (outcome.ref !== undefined) {
          entry.ref = outcome.ref
          byRef.set(outcome.ref, entry)
        }
        if (entry.state === 'arrived' && entry.channel === 'push') lookForPush(entry)
        else changed(entry)
        tellShown(entry)
      }
    }
    asking = false
  }

  /** Until its outcome is known, a message that is sent again says so. */
  function tellDelay(late: readonly Entry[], what: string, againInMs: number): void {
    for (const entry of late) {
      if (entry.state !== 'waiting') continue
      entry.note = `${what}; the platform tries again in ${Math.ceil(againInMs / 1_000)} s`
      changed(entry)
    }
  }

  function lookForPush(entry: Entry): void {
    const found = findPush(entry.ref as string, phones)
    if (found.waitsFor.length > 0) awaited.add(entry)
    else awaited.delete(entry)
    const where = inWords(found)
    if (where === entry.where) return
    entry.where = where
    entry.note = `${where.charAt(0).toUpperCase()}${where.slice(1)}.`
    entry.state = found.on.length > 0 ? 'arrived' : found.waitsFor.length > 0 ? 'kept' : 'replaced'
    changed(entry)
  }

  function tellShown(entry: Entry): void {
    const streams = entry.ref === undefined ? undefined : shown.get(entry.ref)
    if (streams === undefined || entry.state !== 'arrived') return
    entry.note = `Seen live on ${streams === 1 ? 'one page' : `${streams} pages`}.`
    changed(entry)
  }

  function changed(entry: Entry): void {
    for (const listener of listeners) listener(entry)
  }
}

/** Of a message that is settled. The platform gives up what it could not deliver in time. */
function stateOf({ category, reason }: KnownOutcome): State {
  if (category === 'successful') return 'arrived'
  return reason === 'expired' ? 'failed' : 'refused'
}
