import { on } from '../../base/runtime/events.ts'
import { sleep } from '../../base/runtime/sleep.ts'
import type { Clients, KnownOutcome } from './clients.ts'
import { type Entry, entryOf, type State, unreadableEntry } from './entry.ts'
import { describeLocation, findPush } from './find-push.ts'
import type { Phones } from './phones.ts'
import type { Sample } from './records.ts'

export interface Journal {
  /** Sends messages through the platform, and follows their states. */
  send(samples: readonly Sample[], unreadable?: readonly object[]): Promise<readonly Entry[]>
  /** The latest 200 entries, oldest first. */
  readonly entries: readonly Entry[]
  onChange(listener: (entry: Entry) => void): () => void
  /** Resolves when none of the entries is waiting any more. Rejects when the signal aborts. */
  settled(entries: readonly Entry[], signal: AbortSignal): Promise<void>
  /** How many messages are in each state, since the start. */
  counts(): Counts
  /** The same of the campaign. */
  campaign(): Counts
  /** Begins to count another campaign. */
  forgetCampaign(): void
  /** Asks for the outcome of each message that waits: events of it may have been missed. */
  recheck(): void
  stop(): void
}

export type Counts = Readonly<Record<State, number>>

const mostEntries = 200
const pollMs = 500

/** Follows messages by the engine's events, their outcomes by the platform's API, and pushes by the state of the phones. */
export function createJournal(clients: Clients, phones: Phones): Journal {
  const entries: Entry[] = []
  const bySeq = new Map<number, Entry>()
  const byRef = new Map<string, Entry>()
  /** When messages were settled whose queue numbers are not known yet: the answer to enqueue() assigns them. */
  const settledEarly = new Map<number, number>()
  const shown = new Map<string, number>()
  /** Pushes that wait for an offline device. */
  const waitingPushes = new Set<Entry>()
  const listeners = new Set<(entry: Entry) => void>()
  /** Entries that are no longer listed. */
  const past = countStates([])
  let campaign: Entry[] = []
  let fetching = false
  let stopped = false
  /** Queue numbers whose outcome must be fetched. */
  const due = new Set<number>()

  const unsubscribe = [
    on('item.settled', ({ seq }) => {
      const entry = bySeq.get(seq)
      if (entry) requestOutcome(entry, Date.now())
      else settledEarly.set(seq, Date.now())
    }),
    on('inbox.shown', ({ ref, streams }) => {
      shown.set(ref, streams)
      const entry = byRef.get(ref)
      if (entry) noteShown(entry)
    }),
    on('item.retry', ({ seq, reason, inMs }) => {
      const entry = bySeq.get(seq)
      if (entry) noteDelay([entry], `not delivered yet (${reason})`, inMs)
    }),
    on('lane.held', ({ lane, reason, forMs }) => {
      const held = entries.filter(({ brand, channel }) => `${brand}/${channel}` === lane)
      noteDelay(held, `the operator does not answer (${reason})`, forMs)
    }),
    on('server.listening', ({ side }) => {
      if (side === 'platform') recheck()
    }),
    phones.onChange(() => waitingPushes.forEach(updatePush)),
  ]

  return {
    entries,
    async send(samples, unreadable = []) {
      const sent: Entry[] = []
      for (const channel of ['site', 'push'] as const) {
        const ofChannel = samples.filter((sample) => sample.channel === channel)
        const invalid = channel === 'push' ? unreadable : []
        if (ofChannel.length + invalid.length === 0) continue
        const at = Date.now()
        const answer = await clients.enqueue(channel, [...ofChannel.map(({ record }) => record), ...invalid])
        const seqs = answer.seqs.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, i) => from + i))
        for (const [index, sample] of ofChannel.entries()) sent.push(add(entryOf(sample, at), seqs[index]))
        for (const { line, error } of answer.refused)
          sent.push(add({ ...unreadableEntry(channel, at, line), note: `Line ${line}: ${error}` }, undefined))
      }
      return sent
    },
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    settled(awaited, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const check = (): void => {
        if (awaited.every(({ state }) => state !== 'waiting')) resolve()
      }
      const aborted = (): void => reject(signal.reason)
      listeners.add(check)
      signal.addEventListener('abort', aborted)
      check()
      return promise.finally(() => {
        listeners.delete(check)
        signal.removeEventListener('abort', aborted)
      })
    },
    counts: () =>
      countStates(
        entries.map(({ state }) => state),
        past,
      ),
    campaign: () => countStates(campaign.map(({ state }) => state)),
    forgetCampaign() {
      campaign = []
    },
    recheck,
    stop() {
      stopped = true
      for (const end of unsubscribe) end()
    },
  }

  function add(entry: Entry, seq: number | undefined): Entry {
    entries.push(entry)
    if (entry.campaign) campaign.push(entry)
    for (const old of entries.splice(0, entries.length - mostEntries)) forget(old)
    if (seq !== undefined) {
      entry.seq = seq
      bySeq.set(seq, entry)
    }
    notify(entry)
    const settledAt = seq === undefined ? undefined : settledEarly.get(seq)
    if (seq !== undefined && settledAt !== undefined) {
      settledEarly.delete(seq)
      requestOutcome(entry, settledAt)
    }
    return entry
  }

  function forget(entry: Entry): void {
    const { seq, ref } = entry
    past[entry.state]++
    waitingPushes.delete(entry)
    if (seq !== undefined) {
      bySeq.delete(seq)
      due.delete(seq)
    }
    if (ref === undefined) return
    byRef.delete(ref)
    shown.delete(ref)
  }

  function requestOutcome(entry: Entry, settledAt: number): void {
    entry.ms = Math.max(0, settledAt - entry.at)
    due.add(entry.seq as number)
    if (!fetching) void fetchOutcomes()
  }

  function recheck(): void {
    for (const { state, seq } of entries) if (state === 'waiting' && seq !== undefined) due.add(seq)
    if (!fetching) void fetchOutcomes()
  }

  async function fetchOutcomes(): Promise<void> {
    fetching = true
    // The short wait collects messages that are settled together into one request.
    let waitMs = 20
    while (due.size > 0) {
      await sleep(waitMs)
      if (stopped) return
      const outcomes = await clients.outcomes([...due]).catch(() => [])
      waitMs = outcomes.some(({ category }) => category !== 'waiting') ? 20 : pollMs
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
        if (entry.state === 'arrived' && entry.channel === 'push') updatePush(entry)
        else notify(entry)
        noteShown(entry)
      }
    }
    fetching = false
  }

  /** Adds a note about the next attempt to entries whose outcome is not known yet. */
  function noteDelay(delayed: readonly Entry[], problem: string, retryInMs: number): void {
    for (const entry of delayed) {
      if (entry.state !== 'waiting') continue
      entry.note = `${problem}; the platform tries again in ${Math.ceil(retryInMs / 1_000)} s`
      notify(entry)
    }
  }

  function updatePush(entry: Entry): void {
    const found = findPush(entry.ref as string, phones)
    if (found.waitsFor.length > 0) waitingPushes.add(entry)
    else waitingPushes.delete(entry)
    const where = describeLocation(found)
    if (where === entry.where) return
    entry.where = where
    entry.note = `${where.charAt(0).toUpperCase()}${where.slice(1)}.`
    entry.state = found.on.length > 0 ? 'arrived' : found.waitsFor.length > 0 ? 'kept' : 'replaced'
    notify(entry)
  }

  function noteShown(entry: Entry): void {
    const streams = entry.ref === undefined ? undefined : shown.get(entry.ref)
    if (streams === undefined || entry.state !== 'arrived') return
    entry.note = `Seen live on ${streams === 1 ? 'one page' : `${streams} pages`}.`
    notify(entry)
  }

  function notify(entry: Entry): void {
    for (const listener of listeners) listener(entry)
  }
}

const none = { waiting: 0, arrived: 0, kept: 0, replaced: 0, refused: 0, failed: 0, cancelled: 0, unreadable: 0 }

function countStates(states: readonly State[], before: Counts = none): Record<State, number> {
  const counts = { ...before }
  for (const state of states) counts[state]++
  return counts
}

/** The state of a settled message. `expired` means that the platform gave up sending it. */
function stateOf({ category, reason }: KnownOutcome): State {
  if (category === 'successful') return 'arrived'
  if (reason === 'cancelled') return 'cancelled'
  return reason === 'expired' ? 'failed' : 'refused'
}
