import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { emit } from '../../src/base/runtime/events.ts'
import { brands } from '../../src/tools/demo/cast.ts'
import type { Clients, KnownOutcome } from '../../src/tools/demo/clients.ts'
import type { Entry } from '../../src/tools/demo/entry.ts'
import { createJournal, type Journal } from '../../src/tools/demo/journal.ts'
import type { Phone, Phones } from '../../src/tools/demo/phones.ts'
import { createRecords, type Sample, unreadable } from '../../src/tools/demo/records.ts'

const [larkspur, northgate] = brands as [(typeof brands)[0], (typeof brands)[0]]
const settle = (seq: number, lane = '1/site'): void =>
  emit('item.settled', { lane, seq, category: 'successful', attempt: 1, rule: 'x', ageMs: 1, untracked: false })

const noPhones = { onChange: () => () => {} } as Partial<Phones> as Phones

/** A journal with a platform that answers with the given outcomes. */
function open(
  t: TestContext,
  outcomes: Record<number, Partial<KnownOutcome>>,
  onEnqueue: () => void = () => {},
  phones: Phones = noPhones,
): Journal {
  let seq = 0
  const clients = {
    async enqueue(_channel, records) {
      const refused = records.flatMap((record, i) =>
        record === unreadable ? [{ line: i + 1, error: 'activity.user_id is missing' }] : [],
      )
      const accepted = records.length - refused.length
      const seqs: [number, number][] = accepted > 0 ? [[seq + 1, seq + accepted]] : []
      seq += accepted
      onEnqueue()
      return { accepted, repeated: 0, refused_count: refused.length, refused, seqs }
    },
    outcomes: async (seqs) =>
      seqs.map((each) => ({ seq: each, category: 'waiting', ...outcomes[each] }) as KnownOutcome),
  } as Partial<Clients> as Clients
  const journal = createJournal(clients, phones)
  t.after(() => journal.stop())
  return journal
}

function samples(): [Sample, Sample] {
  const records = createRecords('http://page')
  return [
    records.next('site', larkspur, larkspur.users[0] as never),
    records.next('site', northgate, northgate.users[0] as never),
  ]
}

test('each message is followed to its own outcome, although the users of two brands have the same id', async (t) => {
  const journal = open(t, { 1: { category: 'successful', ref: 'a' }, 2: { category: 'failed', error: 'excluded' } })
  const sent = await journal.send(samples())
  assert.deepEqual(
    sent.map(({ state }) => state),
    ['waiting', 'waiting'],
  )
  settle(1)
  settle(2, '2/site')
  await journal.settled(sent, AbortSignal.timeout(5_000))
  assert.deepEqual(
    sent.map(({ brand, user_id, state, ref, note }) => ({ brand, user_id, state, ref, note })),
    [
      { brand: '1', user_id: '1001', state: 'arrived', ref: 'a', note: undefined },
      { brand: '2', user_id: '1001', state: 'refused', ref: undefined, note: 'excluded' },
    ],
  )
})

test('a message that is settled before its queue number is known is not waited for', async (t) => {
  const journal = open(t, { 1: { category: 'successful', ref: 'a' } }, () => settle(1))
  const sent = await journal.send(samples().slice(0, 1))
  await journal.settled(sent, AbortSignal.timeout(5_000))
  assert.equal(sent[0]?.state, 'arrived')
})

test('a refused record has its line number, and the other records keep their queue numbers', async (t) => {
  const journal = open(t, { 1: { category: 'successful', ref: 'a' } })
  const push = createRecords('http://page').next('push', larkspur, larkspur.users[1] as never)
  const [first, bad] = await journal.send([push], [unreadable])
  assert.equal(first?.seq, 1)
  assert.equal(bad?.state, 'unreadable')
  assert.equal(bad?.note, 'Line 2: activity.user_id is missing')
})

test('an entry shows that a page displayed the notification, in either order of the events', async (t) => {
  const journal = open(t, { 1: { category: 'successful', ref: 'a' }, 2: { category: 'successful', ref: 'b' } })
  const sent = await journal.send(samples())
  emit('inbox.shown', { brand: '1', userId: '1001', ref: 'a', streams: 1 })
  settle(1)
  settle(2)
  await journal.settled(sent, AbortSignal.timeout(5_000))
  emit('inbox.shown', { brand: '2', userId: '1001', ref: 'b', streams: 2 })
  assert.deepEqual(
    sent.map(({ note }) => note),
    ['Seen live on one page.', 'Seen live on 2 pages.'],
  )
})

/** Theo's phone and laptop, with the push_ids of shown and stored pushes. */
function twoPhones(): {
  phones: Phones
  has: (name: string, shown: readonly string[], kept: readonly string[]) => void
} {
  const list = ['Android phone', 'laptop'].map(
    (name, i) => ({ id: `1/1002/${i + 1}`, name, service: i === 0 ? 'fcm' : 'web-push' }) as Phone,
  )
  const tags: Record<string, readonly [shown: readonly string[], kept: readonly string[]]> = {}
  const listeners = new Set<(phone: Phone, change: 'content') => void>()
  const tagged = (tag: string) => ({ tag, data: {}, at: 0, replaced: 0 })
  return {
    phones: {
      list,
      shown: ({ name }) => (tags[name]?.[0] ?? []).map(tagged),
      kept: ({ name }) => (tags[name]?.[1] ?? []).map(tagged),
      onChange(listener: (phone: Phone, change: 'content') => void) {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
    } as Partial<Phones> as Phones,
    has(name, shown, kept) {
      tags[name] = [shown, kept]
      for (const listener of listeners) listener(list.find((phone) => phone.name === name) as Phone, 'content')
    },
  }
}

test('an entry lists the devices that show its push, and is updated when offline devices show it', async (t) => {
  const { phones, has } = twoPhones()
  const journal = open(t, { 1: { category: 'successful', ref: 'a' } }, () => {}, phones)
  const states: string[] = []
  journal.onChange(({ state, note = '' }) => states.push(`${state} ${note}`.trim()))
  has('Android phone', [], ['a'])
  const sent = await journal.send([createRecords('http://page').next('push', larkspur, larkspur.users[1] as never)])
  settle(1, '1/push')
  await journal.settled(sent, AbortSignal.timeout(5_000))
  has('laptop', ['a'], [])
  has('Android phone', ['x', 'a'], [])
  has('laptop', ['a', 'b'], [])
  assert.deepEqual(states, [
    'waiting',
    'kept Waits at FCM for the Android phone, which is offline.',
    'arrived On the laptop, waits at FCM for the Android phone, which is offline.',
    'arrived On the Android phone and the laptop.',
  ])
})

test('a push that a newer one replaced while the device was offline is reported as never shown', async (t) => {
  const { phones, has } = twoPhones()
  const journal = open(t, { 1: { category: 'successful', ref: 'a' } }, () => {}, phones)
  has('laptop', [], ['a'])
  const sent = await journal.send([createRecords('http://page').next('push', larkspur, larkspur.users[1] as never)])
  settle(1, '1/push')
  await journal.settled(sent, AbortSignal.timeout(5_000))
  assert.equal(sent[0]?.state, 'kept')
  has('laptop', [], ['b'])
  assert.equal(sent[0]?.state, 'replaced')
  assert.match(sent[0]?.note ?? '', /^Never shown/)
})

test('if the outcome of a message cannot be fetched, the request is repeated until it is known', async (t) => {
  let refused = 2
  const outcomes = {
    get 1(): Partial<KnownOutcome> {
      if (refused-- > 0) throw new Error('the platform does not answer')
      return { category: 'successful', ref: 'a' }
    },
  }
  const journal = open(t, outcomes)
  const sent = await journal.send(samples().slice(0, 1))
  settle(1)
  await journal.settled(sent, AbortSignal.timeout(20_000))
  assert.equal(sent[0]?.state, 'arrived')
})

test('a retried message has the reason and the time of the retry, and an expired one is failed, not refused', async (t) => {
  const journal = open(t, { 1: { category: 'failed', reason: 'expired', error: 'given up after 5 attempts' } })
  const [entry] = await journal.send(samples().slice(0, 1))
  emit('item.retry', { lane: '1/site', seq: 1, attempt: 1, reason: 'timeout', inMs: 2_400 })
  assert.equal(entry?.note, 'not delivered yet (timeout); the platform tries again in 3 s')
  emit('lane.held', { lane: '1/site', reason: 'connect ECONNREFUSED', forMs: 1_000 })
  assert.equal(entry?.note, 'the operator does not answer (connect ECONNREFUSED); the platform tries again in 1 s')
  settle(1)
  await journal.settled([entry as Entry], AbortSignal.timeout(5_000))
  assert.partialDeepStrictEqual(entry, { state: 'failed', note: 'given up after 5 attempts' })
})
