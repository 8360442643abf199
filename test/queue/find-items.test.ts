// Messages on the platform are found by the operator's identifier, by activity.id and by user, and are counted.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { userKey } from '../../src/base/queue/item-keys.ts'
import { settleOps } from '../../src/base/queue/lane/settle-ops.ts'
import type { HandledOutcome, Item, NewItem } from '../../src/base/queue/queue.ts'
import { settledState } from '../../src/base/queue/tables.ts'
import { op, rows, statement } from '../../src/base/store/statement.ts'
import { messageKey } from '../../src/contract/message-key.ts'
import { laneOf } from '../suites/queue.ts'
import { onEachEngine, onSqlite } from '../support/engines.ts'
import { bufferedItem } from './buffered-items.ts'
import { drainLanes, openQueue } from './open-queue.ts'

const countIdentifiers = statement<{ n: number }>('count_identifiers', {})`
  select count(*) as n from identifiers`
const countRows = statement<{ lane: string; category: string; items: number }>('count_rows', {})`
  select lane, 'waiting' as category, count(*) as items from waiting group by 1
  union all select lane, 'successful', sum(last - first + 1) from settled where state = 1 group by 1
  union all select lane, 'failed', sum(last - first + 1) from settled where state = 2 group by 1 order by 1, 2`

const message = (id: string | number, userId = '1001', channel: 'push' | 'site' = 'push'): NewItem => ({
  key: messageKey(channel, { id: String(id), userId, activityId: '7', actionId: null, triggerHash: 'a"b' }),
  text: `{"id":${JSON.stringify(id)}}`,
})
const idOf = ({ text }: Item): string => String(JSON.parse(text).id)
const accepted = (ref: string): HandledOutcome => ({ category: 'successful', ref, rule: 'accepted' })
const refused = (ref?: string): HandledOutcome => ({
  category: 'failed',
  reason: 'rejected',
  error: 'no',
  rule: 'refused',
  ...(ref !== undefined && { ref }),
})

async function open(t: TestContext, store: string) {
  const { database, queue } = await openQueue(t, store)
  return {
    database,
    queue,
    identifiers: async () => (await database.read(op(countIdentifiers, [[]])))[0]?.n,
    /** The counts of the triggers, and the counts of the rows. */
    async counts() {
      const triggered = (await queue.countItems()).toSorted((a, b) =>
        `${a.lane} ${a.category}` < `${b.lane} ${b.category}` ? -1 : 1,
      )
      return [triggered, await database.read(op(countRows, [[]]))]
    },
    drain: (outcomeOf: (item: Item) => HandledOutcome, names?: readonly string[]) =>
      drainLanes(queue, outcomeOf, names),
  }
}

onSqlite('a message is found by the identifier that the operator answered, in its own lane only', async (t, store) => {
  const { queue, drain } = await open(t, store)
  const names = ['1/push', '2/push']
  for (const lane of names)
    await queue.enqueue(
      lane,
      [1, 2, 3].map((id) => message(id)),
    )
  // A foreign operator's identifiers are any text, and need not be unique among its brands.
  const foreign = ['ä€😀', '"', "x'y"]
  await drain((item) => accepted(`${foreign[Number(idOf(item)) - 1]}`), names)
  for (const [n, ref] of foreign.entries()) {
    const [found, ...more] = await queue.findItems({ lanes: ['2/push', '3/push'], ref })
    assert.partialDeepStrictEqual(found, {
      lane: '2/push',
      category: 'successful',
      attempts: 1,
      ref,
      rule: 'accepted',
      key: message(n + 1).key,
    })
    assert.deepEqual(more, [])
  }
  for (const ref of ['unknown', '']) assert.deepEqual(await queue.findItems({ lanes: names, ref }), [])
  assert.deepEqual(await queue.findItems({ lanes: [], ref: '"' }), [])
})

onEachEngine('a message whose settle was committed twice is found once', async (t, store) => {
  const { queue, database } = await open(t, store)
  const [enqueued] = await queue.enqueue('1/push', [message(1)])
  const { seq = 0 } = enqueued ?? {}
  const settled = [{ seq, state: settledState.successful, attempt: 1, rule: 'accepted', ref: 'r' }]
  const ops = settleOps(database.engine, '1/push', { items: [bufferedItem(seq)], settled, failed: [] }, Date.now())
  // The result of the first commit was lost, so it is repeated.
  for (let i = 0; i < 2; i++) await database.commit(ops)
  assert.deepEqual(
    (await queue.findItems({ lanes: ['1/push'], ref: 'r' })).map((found) => [found.seq, found.ref]),
    [[seq, 'r']],
  )
})

onEachEngine('an identifier that cannot be stored does not keep its message from being settled', async (t, store) => {
  const { queue, drain, identifiers } = await open(t, store)
  await queue.enqueue(
    '1/push',
    [1, 2, 3].map((id) => message(id)),
  )
  await drain((item) => accepted(['a\0', 'x'.repeat(5_000), 'fine'][Number(idOf(item)) - 1] as string))
  assert.equal(await identifiers(), 1)
})

onSqlite('an identifier that an operator gave to several messages finds them all', async (t, store) => {
  const { queue, drain } = await open(t, store)
  const enqueued = await queue.enqueue(
    '1/push',
    [1, 2, 3].map((id) => message(id)),
  )
  await drain((item) => accepted(idOf(item) === '2' ? 'other' : 'same'))
  assert.deepEqual(
    (await queue.findItems({ lanes: ['1/push'], ref: 'same' })).map(({ seq }) => seq),
    [enqueued[0]?.seq, enqueued[2]?.seq],
  )
})

onEachEngine(
  'a message is found by its activity.id while it waits and afterwards, without messages with similar ids',
  async (t, store) => {
    const { queue, drain } = await open(t, store)
    const lanes = ['1/push', '1/site']
    const [push] = await queue.enqueue('1/push', [message(7), message(70), message(77), message('7"')])
    const [site] = await queue.enqueue('1/site', [message(7, '1001', 'site')])
    const [, second] = await queue.enqueue('1/push', [message(7), message(7, '1002')])
    await queue.enqueue('2/push', [message(7)])
    const find = () => queue.findItems({ lanes, id: '7' })
    assert.deepEqual(
      (await find()).map(({ seq, category }) => [seq, category]),
      [push, site, second].map((enqueued) => [enqueued?.seq, 'waiting']),
    )
    await drain(
      (item) => (item.lane === '1/site' ? refused() : accepted(`ref ${item.seq}`)),
      ['1/push', '1/site', '2/push'],
    )
    assert.deepEqual(
      (await find()).map(({ seq, category }) => [seq, category]),
      [
        [push?.seq, 'successful'],
        [site?.seq, 'failed'],
        [second?.seq, 'successful'],
      ],
    )
    assert.equal((await queue.findItems({ lanes, id: '7"' })).length, 1)
    assert.deepEqual(await queue.findItems({ lanes, id: '8' }), [])
  },
)

onEachEngine('the messages of a user are found, newest first, page by page, of these lanes', async (t, store) => {
  const { queue } = await open(t, store)
  const seqs: number[] = []
  for (let n = 0; n < 60; n++) {
    const lane = n % 5 === 4 ? '2/push' : n % 2 ? '1/push' : '1/site'
    const [enqueued] = await queue.enqueue(lane, [message(n, n % 3 === 0 ? 'a"ü' : 'b')])
    if (lane !== '2/push' && n % 3 === 0) seqs.push(enqueued?.seq as number)
  }
  const find = (over: { before?: number; limit?: number } = {}) =>
    queue.findItems({ lanes: ['1/push', '1/site'], userId: 'a"ü', ...over })
  const first = await find({ limit: 5 })
  const second = await find({ before: first.at(-1)?.seq as number })
  assert.deepEqual(
    [...first, ...second].map(({ seq }) => seq),
    seqs.toReversed(),
  )
  assert.deepEqual(await queue.findItems({ lanes: ['1/push'], userId: 'nobody' }), [])
})

onEachEngine('a user is found in every chunk of the index', async (t, store) => {
  const { queue, database } = await open(t, store)
  const skipping = (count: number) =>
    statement('skip_numbers', {})`
      ${
        database.engine === 'sqlite'
          ? `update sqlite_sequence set seq = seq + ${count} where name = 'items'`
          : `select setval(pg_get_serial_sequence('items', 'seq'), nextval(pg_get_serial_sequence('items', 'seq')) + ${count})`
      }`
  const [next, far] = [skipping(10_000), skipping(700_000)]
  // Consecutive chunks, more than one step finds, and a gap.
  const chunks = 36
  for (let n = 0; n < chunks; n++) {
    await queue.enqueue('1/push', [message(n), message(n + 100, 'other')])
    await database.commit([op(n === 33 ? far : next, [[]])])
  }
  const found = await queue.findItems({ lanes: ['1/push'], userId: '1001' })
  assert.equal(new Set(found.map(({ seq }) => Math.floor(seq / 10_000))).size, chunks)
})

onSqlite(
  'a device event is delivered and found by its user, but not among the messages of its brand',
  async (t, store) => {
    const { queue, drain } = await open(t, store)
    const event: NewItem = { key: userKey('link', '1001', '1@2'), text: '{"id":"event"}' }
    const unknown: NewItem = { key: 'another kind of key', text: '{"id":"unknown"}' }
    const lane = '1/device-links'
    const enqueued = await queue.enqueue(lane, [event, unknown])
    await drain(() => ({ category: 'successful', rule: 'taken' }), [lane])
    assert.deepEqual(
      (await queue.readOutcomes(enqueued.map(({ seq }) => seq))).map(({ category }) => category),
      ['successful', 'successful'],
    )
    assert.deepEqual(
      (await queue.findItems({ lanes: [lane], userId: '1001' })).map(({ key }) => key),
      [event.key],
    )
    assert.deepEqual(await queue.findItems({ lanes: ['1/push', '1/site'], userId: '1001' }), [])
  },
)

onEachEngine(
  'a replayed message is found by its old and its new identifier, and forgetting deletes all identifiers',
  async (t, store) => {
    const { queue, drain, identifiers } = await open(t, store)
    const [enqueued] = await queue.enqueue('1/push', [message(1), message(2)])
    await drain((item) => refused(`first ${idOf(item)}`))
    assert.equal((await queue.findItems({ lanes: ['1/push'], ref: 'first 1' }))[0]?.category, 'failed')
    await queue.decideFailed({ lane: '1/push' }, 'replay')
    await drain((item) => accepted(`last ${idOf(item)}`))
    for (const ref of ['first 1', 'last 1'])
      assert.partialDeepStrictEqual((await queue.findItems({ lanes: ['1/push'], ref }))[0], {
        seq: enqueued?.seq,
        category: 'successful',
        ref: 'last 1',
        replays: 1,
        earlierRefs: ['first 1'],
      })
    assert.equal(await identifiers(), 4)
    while ((await queue.forgetSettled(Date.now() + 60_000)) > 0);
    assert.equal(await identifiers(), 0)
  },
)

onEachEngine('waiting and settled items are counted exactly, even after replays and forgetting', async (t, store) => {
  const { queue, drain, counts, database } = await open(t, store)
  const names = ['1/push', '2/push']
  for (const lane of names)
    await queue.enqueue(
      lane,
      Array.from({ length: 250 }, (_, id) => message(id)),
    )
  await queue.enqueue('1/push', [message(1), message(2)])
  const checkCounts = async (): Promise<void> => {
    const [triggered, rows] = await counts()
    assert.deepEqual(triggered, rows)
  }
  await checkCounts()
  await drain((item) => (Number(idOf(item)) % 7 === 0 ? refused() : accepted(`ref ${item.seq}`)), names)
  await checkCounts()
  await queue.decideFailed({ lane: '1/push' }, 'replay')
  await checkCounts()
  await drain(() => refused('again'))
  await database.commit([
    ...queue.insertFailedOps('3/push', [{ ...message(1), reason: 'invalid', error: 'not a message', rule: 'parked' }]),
  ])
  await checkCounts()
  await queue.forgetSettled(Date.now() + 60_000)
  await checkCounts()
  while ((await queue.forgetSettled(Date.now() + 60_000)) > 0);
  assert.deepEqual(await counts(), [[], []])
})

onEachEngine('the state of a lane has the age of its oldest item, new or postponed', async (t, store) => {
  const { queue, database } = await open(t, store)
  const age = statement('age_items', { key: 'text', by: 'bigint' })`
    update items set enqueued_at = enqueued_at - r.by from ${rows} r where items.key = r.key`
  const postpone = statement('postpone_one', { key: 'text', at: 'bigint' })`
    update waiting set due_at = r.at from ${rows} r join items i on i.key = r.key where waiting.seq = i.seq`
  const [oldest, newest] = [message(1), message(2)]
  await queue.enqueue('1/push', [oldest, newest])
  await database.commit([op(age, [[oldest.key, 50_000]]), op(postpone, [[oldest.key, Date.now() + 60_000]])])
  const state = (name: string) => queue.serveLane(laneOf({ name }), async () => []).state()
  const { waiting, oldestAgeMs } = await state('1/push')
  assert.equal(waiting, 2)
  assert.ok(oldestAgeMs >= 50_000)
  assert.partialDeepStrictEqual(await state('2/push'), { waiting: 0, oldestAgeMs: 0 })
})
