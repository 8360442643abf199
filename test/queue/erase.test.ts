// Erasure of a user's items: settled items lose text and key, and waiting items are cancelled by the owner of their lane.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { type ErasedPerson, erasedPerson } from '../../src/base/people/digest.ts'
import type { ErasedRows } from '../../src/base/people/person-data.ts'
import { createQueue } from '../../src/base/queue/create-queue.ts'
import { eraseItems } from '../../src/base/queue/erase.ts'
import { parkedLane } from '../../src/base/queue/parked-lane.ts'
import { queuePersonParts } from '../../src/base/queue/person-data.ts'
import type { DecidedItems, HandledOutcome, Item, NewItem } from '../../src/base/queue/queue.ts'
import type { Database } from '../../src/base/store/database.ts'
import { op, statement } from '../../src/base/store/statement.ts'
import { messageKey } from '../../src/contract/message-key.ts'
import { onEachEngine, onSqlite } from '../support/engines.ts'
import { until } from '../support/wait.ts'
import { drainLanes, openQueue } from './open-queue.ts'

const selectTexts = statement<{
  lane: string
  seq: number
  text: string
  waiting: number
  failed: number
  attempts: number
}>({
  name: 'select_texts',
  columns: {},
  text: () => `
    select i.lane, i.seq, i.text, (select count(*) from waiting w where w.seq = i.seq) as waiting,
      (select count(*) from failed f where f.seq = i.seq) as failed,
      (select count(*) from attempts a where a.seq = i.seq) as attempts
    from items i order by i.seq`,
})

const item = (id: number, userId: string): NewItem => ({
  key: messageKey('push', { id: String(id), userId, activityId: '7', actionId: null, triggerHash: null }),
  text: `{"id":${id},"title":"for ${userId}"}`,
})
const delivered = ({ seq }: Item): HandledOutcome => ({ category: 'successful', ref: `ref ${seq}`, rule: 'accepted' })
const refused = (): HandledOutcome => ({ category: 'failed', reason: 'rejected', error: 'no', rule: 'refused' })

/** Erased now. */
const personOf = (userId: string): ErasedPerson => erasedPerson({ brand: '1', userId }, 'the secret', Date.now())

async function open(t: TestContext, store: string) {
  const { database } = await openQueue(t, store)
  /** The people who are erased already. */
  const people = new Map<string, ErasedPerson>()
  const queue = createQueue(database, { erased: { find: (_, userId) => people.get(userId) } })
  const read = async () => (await database.read(op(selectTexts, [[]]))).map((row) => ({ ...row }))
  return {
    database,
    queue,
    read,
    erase(lanes: readonly string[], userId: string) {
      const person = personOf(userId)
      people.set(userId, person)
      return eraseItems(database, lanes, person)
    },
    /** Serves these lanes until no item waits. @returns the texts that were sent */
    async drain(outcomeOf: (item: Item) => HandledOutcome, names?: readonly string[]) {
      const sent: string[] = []
      const witnessed = (item: Item) => {
        sent.push(item.text)
        return outcomeOf(item)
      }
      await drainLanes(queue, witnessed, names)
      return sent
    },
  }
}

onEachEngine(
  "a user's items are erased; outcomes, other users and other brands stay, and a repetition is not stored",
  async (t, store) => {
    const { queue, read, drain, erase } = await open(t, store)
    const lanes = ['1/push', '1/site', '2/push']
    for (const lane of lanes)
      await queue.enqueue(
        lane,
        [1, 2, 3, 4].map((id) => item(id, id === 4 ? 'john' : 'mary')),
      )
    await drain((each) => (each.text.includes('"id":1') ? refused() : delivered(each)), lanes)
    await queue.enqueue('1/push', [item(5, 'mary')])
    const outcomes = async (userId: string) =>
      (await queue.findItems({ lanes, userId })).map(({ seq, category, ref, attempts }) => ({
        seq,
        category,
        ref,
        attempts,
      }))
    const before = await outcomes('mary')

    assert.deepEqual(await erase(['1/push', '1/site'], 'mary'), { erased: 6, waiting: 1 })
    for (const { lane, text, waiting, failed } of await read()) {
      const kept = lane === '2/push' || text.includes('john') || waiting === 1
      assert.equal(text === '', !kept, `${lane} ${text}`)
      if (text === '') assert.equal(failed, 0)
    }
    // Numbers and outcomes stay. What waits is cancelled by the owner of the lane, and then erased.
    assert.deepEqual(await drain(delivered), [])
    assert.deepEqual(await erase(['1/push', '1/site'], 'mary'), { erased: 1, waiting: 0 })
    const after = [...(await outcomes(personOf('mary').userDigest)), ...(await outcomes('mary'))]
    const bySeq = (rows: typeof before) => rows.toSorted((a, b) => a.seq - b.seq)
    assert.deepEqual(
      bySeq(after).filter(({ seq }) => seq !== before[0]?.seq),
      bySeq(before).slice(0, -1),
    )

    // An erased item is still in the lane, so it is not stored again, and it cannot be replayed.
    const repeated = await queue.enqueue('1/push', [item(1, 'mary'), item(5, 'mary'), item(6, 'mary')])
    assert.deepEqual(
      repeated.map(({ isNew }) => isNew),
      [false, false, true],
    )
    for (const state of ['pending', 'dismissed', 'replayed'] as const)
      for (const lane of ['1/push', '1/site'])
        assert.deepEqual(await queue.decideFailed({ user: 'mary', lane, state }, 'replay'), { count: 0 })
    assert.deepEqual(await drain(delivered), [item(6, 'mary').text])
    assert.deepEqual(await erase(['1/push'], 'nobody'), { erased: 0, waiting: 0 })
    // The other brand keeps its Failed Action.
    assert.deepEqual(await queue.decideFailed({ user: 'mary' }, 'replay'), { count: 1 })
  },
)

onSqlite('a user with more items than a page has them all erased', async (t, store) => {
  const { queue, read, drain, erase } = await open(t, store)
  await queue.enqueue(
    '1/push',
    Array.from({ length: 1_201 }, (_, i) => item(i, 'mary')),
  )
  await drain(delivered)
  assert.deepEqual(await erase(['1/push'], 'mary'), { erased: 1_201, waiting: 0 })
  assert.ok((await read()).every(({ text }) => text === ''))
})

onSqlite(
  'the earlier attempts of an erased item are deleted, since their answers may quote the text',
  async (t, store) => {
    const { queue, read, drain, erase } = await open(t, store)
    await queue.enqueue('1/push', [item(1, 'mary'), item(2, 'john')])
    await drain(refused)
    await queue.decideFailed({}, 'replay')
    await drain(refused)
    assert.deepEqual(await erase(['1/push'], 'mary'), { erased: 1, waiting: 0 })
    assert.deepEqual(
      (await read()).map(({ text, failed, attempts }) => [text, failed, attempts]),
      [
        ['', 0, 0],
        [item(2, 'john').text, 1, 1],
      ],
    )
  },
)

/** One pass of the eraser over items and cancellations. */
async function erasePass(database: Database, person: ErasedPerson): Promise<readonly ErasedRows[]> {
  const passes: ErasedRows[] = []
  for (const part of queuePersonParts()) passes.push(await part.erase(database, person))
  return passes
}

onEachEngine('an erasure cancels what waits in a lane that no process serves', async (t, store) => {
  const { database, queue, read, drain } = await open(t, store)
  await queue.enqueue('1/push', [item(1, 'mary'), item(2, 'john')])
  const person = personOf('mary')
  assert.deepEqual(await erasePass(database, person), [
    { erased: 0, waiting: 1 },
    { erased: 1, waiting: 0 },
  ])
  assert.deepEqual(await erasePass(database, person), [
    { erased: 1, waiting: 0 },
    { erased: 0, waiting: 0 },
  ])
  assert.deepEqual(
    (await read()).map(({ text, waiting }) => [text, waiting]),
    [
      ['', 0],
      [item(2, 'john').text, 1],
    ],
  )
  // A process that serves the lane later sends the message of the other user.
  assert.deepEqual(await drain(delivered), [item(2, 'john').text])
})

onEachEngine('an erasure leaves a lane to the process that serves it', async (t, store) => {
  const { database, queue } = await open(t, store)
  // On PostgreSQL, another process erases.
  const eraser = database.engine === 'postgres' ? (await open(t, store)).database : database
  const [called, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const lane = { ...parkedLane, name: '1/push', max: 1 }
  const service = queue.serveLane(lane, async (items) => {
    called.resolve()
    await answered.promise
    return items.map(delivered)
  })
  service.start()
  t.after(() => service.stop())
  await queue.enqueue('1/push', [item(1, 'mary')])
  await called.promise
  const person = personOf('mary')
  assert.deepEqual(await erasePass(eraser, person), [
    { erased: 0, waiting: 1 },
    { erased: 0, waiting: 1 },
  ])
  answered.resolve()
  await until(async () => (await erasePass(eraser, person)).every(({ erased, waiting }) => erased + waiting === 0), {
    awaited: 'nothing of the user is left',
  })
  const [{ category } = {}] = await queue.findItems({ lanes: ['1/push'], userId: person.userDigest })
  assert.equal(category, 'successful', 'the message in flight is not cancelled')
})

onEachEngine('an item that is replayed between the search and the erasure keeps its text', async (t, store) => {
  const { database, queue, read, drain } = await open(t, store)
  await queue.enqueue('1/push', [item(1, 'mary'), item(2, 'mary')])
  await drain((each) => (each.text.includes('"id":1') ? refused() : delivered(each)))
  let replays = 0
  const late: typeof database = {
    ...database,
    async commit(ops, options) {
      if (replays++ === 0) assert.deepEqual(await queue.decideFailed({ user: 'mary' }, 'replay'), { count: 1 })
      return database.commit(ops, options)
    },
  }
  assert.deepEqual(await eraseItems(late, ['1/push'], personOf('mary')), { erased: 1, waiting: 1 })
  assert.deepEqual(
    (await read()).map(({ text, waiting }) => [text, waiting]),
    [
      [item(1, 'mary').text, 1],
      ['', 0],
    ],
  )
})

onEachEngine(
  'of a replay and an erasure at the same time, either wins, and no empty text is sent',
  async (t, store) => {
    const { database, queue, read, drain } = await open(t, store)
    // On PostgreSQL the two come from two processes.
    const other = database.engine === 'postgres' ? (await open(t, store)).queue : queue
    const users = Array.from({ length: 60 }, (_, i) => `user ${i}`)
    await queue.enqueue(
      '1/push',
      users.map((user, i) => item(i, user)),
    )
    await drain(refused)
    const replayed = await Promise.all(
      users.map(async (user, i) => {
        const replay = () => other.decideFailed({ user }, 'replay')
        const erase = () => eraseItems(database, ['1/push'], personOf(user))
        const first = i % 2 === 0 ? replay() : erase()
        const second = i % 2 === 0 ? erase() : replay()
        const [decision, erasure] = i % 2 === 0 ? [first, second] : [second, first]
        const { count } = (await decision) as DecidedItems
        const erased = (await erasure) as ErasedRows
        assert.deepEqual(erased, count === 1 ? { erased: 0, waiting: 1 } : { erased: 1, waiting: 0 })
        return count === 1
      }),
    )
    for (const [i, { text, waiting, failed }] of (await read()).entries())
      assert.deepEqual([text !== '', waiting], [replayed[i], replayed[i] ? 1 : 0], `user ${i}: ${text} ${failed}`)
    assert.ok((await drain(delivered)).every((text) => text !== ''))
  },
)
