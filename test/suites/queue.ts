// What the queue must do on every engine. Run by test/queue/sqlite.test.ts and test/queue/postgres.test.ts.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { messageKey } from '../../src/contract/message-key.ts'
import type { Fatal } from '../../src/contract/outcome.ts'
import { createQueue, queueMigrations } from '../../src/queue/create-queue.ts'
import { userKey } from '../../src/queue/parts.ts'
import { putOps } from '../../src/queue/put.ts'
import type { Handle, Handled, Item, Lane, LaneService, NewItem, Put, Queue } from '../../src/queue/queue.ts'
import { createReader } from '../../src/queue/reader.ts'
import type { Row } from '../../src/queue/row.ts'
import { putOffOp, settleOps } from '../../src/queue/settle.ts'
import { createStock } from '../../src/queue/stock.ts'
import { on } from '../../src/runtime/events.ts'
import { isTimeoutError } from '../../src/runtime/timeout-error.ts'
import type { Database } from '../../src/store/database.ts'
import { openDatabase } from '../../src/store/open-database.ts'
import { op, statement } from '../../src/store/statement.ts'
import { StoreUnavailable } from '../../src/store/store-unavailable.ts'
import { event, until } from '../support/wait.ts'
import { insertNote, notes, selectNotes } from './notes.ts'

export interface QueueFixture {
  readonly engine: Database['engine']
  readonly skip: string | false
  /** The url of an empty database that only this test uses. */
  readonly fresh: (t: TestContext) => Promise<string>
}

interface Bench {
  readonly t: TestContext
  readonly database: Database
  readonly queue: Queue
  /** Serves a lane until the test ends. */
  serve(handle: Handle, over?: Partial<Lane>): LaneService
}

const selectWaiting = statement<{ seq: number; due_at: number; attempt: number }>({
  name: 'waiting',
  rank: 90,
  columns: {},
  text: () => 'select w.seq, w.due_at, w.attempt from waiting w order by w.seq',
})
const makeDue = statement({
  name: 'make_due',
  rank: 90,
  columns: {},
  text: () => 'update waiting set due_at = 5 where due_at > 5',
})

const laneOf = (over: Partial<Lane> = {}): Lane => ({
  name: '1/push',
  order: 'none',
  max: 100,
  bytes: 1_000_000,
  spanMs: 0,
  concurrency: 2,
  timeoutMs: 5_000,
  keepFailed: true,
  retry: { firstMs: 1, mostMs: 5 },
  ...over,
})

/** Two brands have equal user ids; what differs is the lane. */
const item = (id: number, userId = '1001'): NewItem => ({
  key: messageKey('push', { id: String(id), userId, activityId: '7', actionId: '9', triggerHash: 'hash' }),
  text: `{"activity":{"id":${id},"user_id":"${userId}"}}`,
})
const items = (count: number, from = 1): NewItem[] => Array.from({ length: count }, (_, i) => item(from + i))
const seqsOf = (puts: readonly Put[]): number[] => puts.map(({ seq }) => seq)

const delivered = (each: Item): Handled => ({
  category: 'successful',
  ref: `ref ${each.seq}`,
  rule: 'delivered',
  call: 'c',
})
const rejected: Handled = {
  category: 'failed',
  reason: 'rejected',
  error: 'no such user',
  rule: '§7.2.2 failed',
  answer: 'said no',
}
const again = (blame: Fatal['blame'], over: Partial<Fatal> = {}): Fatal => ({
  category: 'fatal',
  reason: 'unavailable',
  blame,
  rule: 'try again',
  error: `the ${blame} is to blame`,
  ...over,
})

/** Resolves when all of these have an outcome. */
const settled = (queue: Queue, puts: readonly Put[], withinMs = 20_000) =>
  until(
    async () => {
      const outcomes = await queue.outcomes(seqsOf(puts))
      return outcomes.length === puts.length && outcomes.every(({ category }) => category !== 'waiting')
        ? outcomes
        : undefined
    },
    { awaited: `${puts.length} items are settled`, withinMs },
  )

export function queueSuite({ engine, skip, fresh }: QueueFixture): void {
  const check = (title: string, run: (bench: Bench) => Promise<void>): void => {
    test(`${engine}: ${title}`, { skip, timeout: 60_000 }, async (t) => {
      const database = await openDatabase(await fresh(t), { migrations: [...queueMigrations, notes] })
      const queue = createQueue(database)
      const services: LaneService[] = []
      t.after(async () => {
        await Promise.all(services.map((service) => service.stop(100)))
        await database.close()
      })
      const serve: Bench['serve'] = (handle, over) => {
        const service = queue.serve(laneOf(over), handle)
        services.push(service)
        service.start()
        return service
      }
      await run({ t, database, queue, serve })
    })
  }

  // ── putting ──

  check('an item is put once in its lane, and each time its number is told', async ({ queue }) => {
    const first = await queue.enqueue('1/push', items(3))
    assert.deepEqual(
      first.map(({ fresh }) => fresh),
      [true, true, true],
    )
    assert.deepEqual(
      seqsOf(first),
      seqsOf(first).toSorted((a, b) => a - b),
    )
    const second = await queue.enqueue('1/push', [item(3), item(9), item(1), item(9)])
    assert.deepEqual(
      second.map(({ fresh }) => fresh),
      [false, true, false, false],
    )
    assert.deepEqual([second[0]?.seq, second[2]?.seq, second[3]?.seq], [first[2]?.seq, first[0]?.seq, second[1]?.seq])
    const other = await queue.enqueue('2/push', items(3))
    assert.ok(other.every(({ fresh }) => fresh))
    assert.deepEqual(await queue.enqueue('1/push', []), [])
  })

  check('many putters at once each learn what they put themselves', async ({ queue }) => {
    const puts = await Promise.all(Array.from({ length: 20 }, () => queue.enqueue('1/push', items(50))))
    assert.equal(puts.flat().filter(({ fresh }) => fresh).length, 50)
    for (const put of puts) assert.deepEqual(seqsOf(put), seqsOf(puts[0] as readonly Put[]))
    assert.deepEqual(await queue.count(), [{ lane: '1/push', category: 'waiting', items: 50 }])
  })

  check('what is put commits with what caused it, or not at all', async ({ database, queue, serve }) => {
    const got: string[] = []
    serve(async (batch) => {
      got.push(...batch.map(({ text }) => text))
      return batch.map(delivered)
    })
    await assert.rejects(database.commit([...queue.put('1/push', [item(1)]), op(insertNote, [['bad']])]))
    await database.commit([...queue.put('1/push', [item(2)]), op(insertNote, [['good']])])
    await until(() => got.length, { awaited: 'the second arrives' })
    assert.deepEqual(got, [item(2).text])
    assert.equal((await queue.enqueue('1/push', [item(1)]))[0]?.fresh, true)
  })

  // ── serving ──

  check('every item reaches the handler once, and its outcome is found by its number', async ({ queue, serve }) => {
    const first = await queue.enqueue('1/push', items(3_000))
    const seen = new Map<number, number>()
    serve(async (batch) => {
      for (const { seq } of batch) seen.set(seq, (seen.get(seq) ?? 0) + 1)
      return batch.map(delivered)
    })
    const puts = [...first, ...(await queue.enqueue('1/push', items(500, 5_001)))]
    const outcomes = await settled(queue, puts)
    assert.deepEqual(outcomes[7], {
      seq: puts[7]?.seq,
      lane: '1/push',
      category: 'successful',
      attempts: 1,
      rule: 'delivered',
      ref: `ref ${puts[7]?.seq}`,
      call: 'c',
    })
    assert.deepEqual(
      outcomes.map(({ ref }) => ref),
      seqsOf(puts).map((seq) => `ref ${seq}`),
    )
    assert.deepEqual(
      [...seen.values()],
      puts.map(() => 1),
    )
    assert.deepEqual(await queue.count(), [{ lane: '1/push', category: 'successful', items: 3_500 }])
    assert.deepEqual(await queue.outcomes([999_999_999]), [])
  })

  check('lanes of two brands with the same users never meet', async ({ queue, serve }) => {
    const got: Record<string, Set<string>> = { '1/push': new Set(), '2/push': new Set() }
    const handle =
      (name: string): Handle =>
      async (batch) =>
        batch.map((each) => {
          got[name]?.add(each.lane)
          return delivered(each)
        })
    serve(handle('1/push'))
    serve(handle('2/push'), { name: '2/push' })
    const puts = [await queue.enqueue('1/push', items(200)), await queue.enqueue('2/push', items(200))].flat()
    await settled(queue, puts)
    assert.deepEqual(got, { '1/push': new Set(['1/push']), '2/push': new Set(['2/push']) })
  })

  check(
    '§4.1 rule 3: a batch goes when it is full, and one that is not after the time span',
    async ({ queue, serve }) => {
      const sizes: number[] = []
      serve(
        async (batch) => {
          sizes.push(batch.length)
          return batch.map(delivered)
        },
        { max: 10, spanMs: 300 },
      )
      const puts = await queue.enqueue('1/push', items(25))
      await until(() => sizes.length === 2, { awaited: 'two full batches' })
      await settled(queue, puts)
      assert.deepEqual(sizes, [10, 10, 5])
    },
  )

  check('lanes whose items were put in turn are read without a gap, and in order', async ({ queue, serve }) => {
    const puts: Put[] = []
    for (let i = 0; i < 20; i++) {
      for (const lane of ['1/push', '2/push']) puts.push(...(await queue.enqueue(lane, items(40, 1 + i * 40))))
    }
    const got: number[] = []
    serve(
      async (batch) => {
        got.push(...batch.map(({ seq }) => seq))
        return batch.map(delivered)
      },
      { order: 'lane' },
    )
    serve(async (batch) => batch.map(delivered), { name: '2/push' })
    const outcomes = await settled(queue, puts)
    assert.ok(outcomes.every(({ seq, ref }) => ref === `ref ${seq}`))
    assert.equal(got.length, 800)
    assert.deepEqual(
      got,
      got.toSorted((a, b) => a - b),
    )
  })

  check('an activity.id is never twice in one batch', async ({ queue, serve }) => {
    const batches: string[][] = []
    serve(async (batch) => {
      batches.push(batch.map(({ text }) => JSON.parse(text).activity.id))
      return batch.map(delivered)
    })
    const puts = await queue.enqueue('1/push', [item(1, 'a'), item(1, 'b'), item(2, 'a'), item(1, 'c')])
    await settled(queue, puts)
    for (const ids of batches) assert.equal(new Set(ids).size, ids.length)
  })

  check(
    'rows that come with outcomes are committed with the settle; those that cannot be, fail alone',
    async ({ database, queue, serve }) => {
      const alert = event('provider.alert')
      serve(
        async (batch) =>
          batch.map((each) => ({
            ...delivered(each),
            writes: [op(insertNote, [[each.text.includes('"id":3,') ? 'bad' : `note ${each.seq}`]])],
          })),
        { max: 1, concurrency: 10 },
      )
      const puts = await queue.enqueue('1/push', items(10))
      const outcomes = await settled(queue, puts)
      assert.ok(outcomes.every(({ category }) => category === 'successful'))
      assert.match((await alert).error, /cannot be written/)
      assert.equal((await database.read(op(selectNotes, [[]]))).length, 9)
    },
  )

  check('a store that is away for a moment settles later; nothing is sent again', async ({ t, database }) => {
    let away = 3
    const flaky: Database = {
      ...database,
      engine: database.engine,
      commit: ((...args: Parameters<Database['commit']>) =>
        sent > 0 && away-- > 0
          ? Promise.reject(new StoreUnavailable('gone for a moment'))
          : database.commit(...args)) as Database['commit'],
    }
    const queue = createQueue(flaky)
    let sent = 0
    const puts = await queue.enqueue('1/push', items(50))
    const service = queue.serve(laneOf(), async (batch) => {
      sent += batch.length
      return batch.map(delivered)
    })
    service.start()
    t.after(() => service.stop(100))
    await settled(queue, puts)
    assert.equal(sent, 50)
    assert.ok(away <= 0)
  })

  // ── again ──

  check('§7.2.2: a fatal message is retried until it succeeds, and holds up nobody', async ({ queue, serve }) => {
    const attempts = new Map<number, number[]>()
    serve(async (batch) =>
      batch.map((each) => {
        attempts.set(each.seq, [...(attempts.get(each.seq) ?? []), each.attempt])
        return each.text.includes('"id":5,') && each.attempt < 4 ? again('message') : delivered(each)
      }),
    )
    const puts = await queue.enqueue('1/push', items(10))
    const outcomes = await settled(queue, puts)
    assert.deepEqual(attempts.get(puts[4]?.seq as number), [1, 2, 3, 4])
    assert.deepEqual(
      outcomes.map(({ attempts }) => attempts),
      [1, 1, 1, 1, 4, 1, 1, 1, 1, 1],
    )
  })

  check(
    'what is put off for long is written down, leaves the memory, and comes back when it is due',
    async ({ database, queue, serve }) => {
      let first = true
      serve(async (batch) =>
        batch.map((each) => {
          if (!first) return delivered(each)
          first = false
          return again('message', { retryAfterMs: 3_600_000 })
        }),
      )
      const puts = await queue.enqueue('1/push', items(1))
      const [waiting] = await until(
        async () => {
          const rows = await database.read(op(selectWaiting, [[]]))
          return rows[0]?.attempt === 1 ? rows : undefined
        },
        { awaited: 'the attempt is written down' },
      )
      assert.ok((waiting?.due_at ?? 0) > Date.now() + 500_000)
      const why = { reason: 'unavailable', error: 'the message is to blame' }
      assert.deepEqual(await queue.outcomes(seqsOf(puts)), [
        { seq: puts[0]?.seq, lane: '1/push', category: 'waiting', ...why },
      ])
      await database.commit([op(makeDue, [[]])])
      const [outcome] = await settled(queue, puts)
      assert.equal(outcome?.attempts, 2)
    },
  )

  check('a lane with a limit of attempts gives up, into Failed Actions', async ({ queue, serve }) => {
    serve(async (batch) => batch.map(() => again('message')), { retry: { firstMs: 1, mostMs: 2, attempts: 3 } })
    const [outcome] = await settled(queue, await queue.enqueue('1/push', items(1)))
    assert.deepEqual([outcome?.category, outcome?.reason, outcome?.attempts], ['failed', 'expired', 3])
    const { items: failed } = await queue.failed({}, { after: 0, limit: 10 })
    assert.equal(failed[0]?.error, 'given up after 3 attempts: the message is to blame')
  })

  check(
    'a handler that throws, answers too little or nonsense costs a retry and never the lane',
    async ({ queue, serve }) => {
      let calls = 0
      serve(
        async (batch) => {
          calls++
          if (calls === 1) throw new Error('oops')
          if (calls === 2) return []
          return calls === 3 ? [undefined as never] : batch.map(delivered)
        },
        { max: 1, concurrency: 1 },
      )
      const [outcome] = await settled(queue, await queue.enqueue('1/push', items(1)))
      assert.equal(outcome?.attempts, 4)
    },
  )

  check('a handler that ignores its deadline loses its place', async ({ queue, serve }) => {
    let calls = 0
    serve((batch) => (++calls === 1 ? new Promise(() => {}) : Promise.resolve(batch.map(delivered))), {
      concurrency: 1,
      timeoutMs: 20,
    })
    const [outcome] = await settled(queue, await queue.enqueue('1/push', items(1)))
    assert.equal(outcome?.category, 'successful')
    assert.equal(calls, 2)
  })

  check('the signal of a call aborts at the deadline of the call', async ({ queue, serve }) => {
    let calls = 0
    let reason: unknown
    serve(
      (batch, { signal }) =>
        ++calls === 1
          ? new Promise((resolve) => {
              signal.addEventListener('abort', () => {
                reason = signal.reason
                resolve(batch.map(() => again('provider')))
              })
            })
          : Promise.resolve(batch.map(delivered)),
      { concurrency: 1, timeoutMs: 20 },
    )
    await settled(queue, await queue.enqueue('1/push', items(1)))
    assert.ok(isTimeoutError(reason), String(reason))
  })

  // ── whose fault it is ──

  check('a batch that is refused is halved until the guilty message stands alone', async ({ queue, serve }) => {
    const sizes: number[] = []
    let refused = 0
    serve(
      async (batch) => {
        sizes.push(batch.length)
        const guilty = batch.some(({ text }) => text.includes('"id":70,'))
        if (!guilty || refused > 20) return batch.map(delivered)
        refused++
        return batch.map(() => again('call'))
      },
      { max: 64, concurrency: 1 },
    )
    const puts = await queue.enqueue('1/push', items(128))
    const outcomes = await settled(queue, puts)
    assert.ok(outcomes.every(({ category }) => category === 'successful'))
    assert.deepEqual(
      outcomes.filter(({ attempts }) => attempts !== 1).map(({ seq }) => seq),
      [puts[69]?.seq],
    )
    // 64 and 64, then both halves of each half on the way down, then the guilty one alone until it succeeded.
    assert.deepEqual(sizes.slice(0, 4), [64, 64, 32, 16])
    assert.equal(sizes.filter((size) => size > 1).length, 2 + 2 * 5)
  })

  check('an outage holds the lane: no split, no attempt counted, one probe at a time', async ({ queue, serve }) => {
    let up = false
    let running = 0
    const sizes: number[] = []
    const probes: string[] = []
    const held = event('lane.held')
    const service = serve(
      async (batch) => {
        running++
        sizes.push(batch.length)
        if (sizes.length > 2) {
          assert.equal(running, 1)
          if (!up) probes.push(batch[0]?.text as string)
        }
        await new Promise(setImmediate)
        running--
        return batch.map((each) => (up ? delivered(each) : again('provider')))
      },
      { max: 50, concurrency: 1 },
    )
    const puts = await queue.enqueue('1/push', items(100))
    assert.equal((await held).reason, 'the provider is to blame')
    await until(() => sizes.length > 8, { awaited: 'probes' })
    const state = await service.state()
    assert.deepEqual([state.state, state.waiting, state.lastError], ['held', 100, 'the provider is to blame'])
    assert.deepEqual(sizes.slice(0, 8), [50, 1, 1, 1, 1, 1, 1, 1])
    // Each probe is another message: no message can hold the lane by itself.
    assert.equal(new Set(probes.slice(0, 6)).size, Math.min(6, probes.length))
    const released = event('lane.released')
    up = true
    await released
    const outcomes = await settled(queue, puts)
    assert.ok(outcomes.every(({ attempts }) => attempts === 1))
    assert.equal((await service.state()).state, 'running')
  })

  check(
    'a provider that refuses every call is away: it is not searched for a guilty message again and again',
    async ({ queue, serve }) => {
      const sizes: number[] = []
      const held = event('lane.held')
      serve(
        async (batch) => {
          sizes.push(batch.length)
          return batch.map(() => again('call'))
        },
        { max: 64, concurrency: 1, retry: { firstMs: 20, mostMs: 50 } },
      )
      await queue.enqueue('1/push', items(500))
      await held
      assert.deepEqual(sizes.slice(0, 7), [64, 32, 16, 8, 4, 2, 1])
      await until(() => sizes.length > 12, { awaited: 'probes' })
      assert.deepEqual(new Set(sizes.slice(7)), new Set([1]))
    },
  )

  check('a provider that refuses one single message after the other is away', async ({ queue, serve }) => {
    let calls = 0
    const held = event('lane.held')
    const service = serve(
      async (batch) => {
        calls++
        return batch.map(() => again('call'))
      },
      { max: 1, concurrency: 1, retry: { firstMs: 60_000, mostMs: 60_000 } },
    )
    await queue.enqueue('1/push', items(100))
    await held
    assert.equal(calls, 5)
    assert.equal((await service.state()).state, 'held')
  })

  check('a message that brings the provider down is found although every probe works', async ({ queue, serve }) => {
    serve(
      async (batch) =>
        batch.map((each) =>
          batch.some(({ text }) => text.includes('"id":20,')) && each.attempt < 2 ? again('provider') : delivered(each),
        ),
      { max: 32, concurrency: 1 },
    )
    const outcomes = await settled(queue, await queue.enqueue('1/push', items(32)))
    assert.deepEqual(outcomes.filter(({ attempts }) => attempts !== 1).length, 1)
  })

  check(
    'a long row of refusals pauses the lane until a person resumes it; what was skipped can be replayed',
    async ({ queue, serve }) => {
      let right = false
      let sent = 0
      const refusal: Handled = {
        category: 'failed',
        reason: 'misconfigured',
        error: 'the operator answered 401',
        rule: '§7.1 401',
      }
      const paused = event('lane.paused')
      const over: Partial<Lane> = { max: 1, concurrency: 1, refusals: 10 }
      const handle: Handle = async (batch) => {
        sent++
        return batch.map((each) => (right ? delivered(each) : refusal))
      }
      const service = serve(handle, over)
      const puts = await queue.enqueue('1/push', items(30))
      assert.match((await paused).reason, /10 messages in a row were refused .*401/)
      await until(async () => (await service.state()).waiting === 20, { awaited: 'what was answered is settled' })
      assert.equal((await service.state()).state, 'paused')
      // A restart does not go on by itself.
      await service.stop()
      const next = serve(handle, over)
      await until(async () => (await next.state()).owned, { awaited: 'it is owned again' })
      assert.equal((await next.state()).state, 'paused')
      assert.equal(sent, 10)

      right = true
      await next.resume()
      await settled(queue, puts)
      assert.equal(await queue.decide({ lane: '1/push', state: 'pending' }, 'replay'), 10)
      await until(async () => (await queue.outcomes(seqsOf(puts))).every(({ category }) => category === 'successful'), {
        awaited: 'all are delivered',
      })
      assert.equal(sent, 40)
    },
  )

  check('a slow lane and a sick lane slow no other', async ({ queue, serve }) => {
    serve(() => new Promise(() => {}), { name: '1/site' })
    serve(() => Promise.reject(new Error('sick')), { name: '2/site' })
    serve(async (batch) => batch.map(delivered))
    await queue.enqueue('1/site', items(5_000))
    await queue.enqueue('2/site', items(500))
    await settled(queue, await queue.enqueue('1/push', items(500)))
  })

  check('an ordered lane sends one call at a time, and a fatal holds those behind it', async ({ queue, serve }) => {
    const got: number[] = []
    let running = 0
    serve(
      async (batch) => {
        assert.equal(++running, 1)
        await new Promise(setImmediate)
        running--
        // What follows the first fatal is fatal too.
        const stuck = batch.findIndex(({ seq, attempt }) => seq % 7 === 0 && attempt < 3)
        return batch.map((each, i) => {
          if (stuck !== -1 && i >= stuck) return again('message')
          got.push(each.seq)
          return delivered(each)
        })
      },
      { order: 'lane', max: 5, concurrency: 4 },
    )
    const puts = await queue.enqueue('1/push', items(60))
    await settled(queue, puts)
    assert.deepEqual(got, seqsOf(puts))
  })

  check('an ordered lane finds a guilty message in order, by smaller and smaller batches', async ({ queue, serve }) => {
    const got: number[] = []
    let refused = 0
    serve(
      async (batch) => {
        if (batch.some(({ text }) => text.includes('"id":9,')) && refused++ < 6) return batch.map(() => again('call'))
        got.push(...batch.map(({ seq }) => seq))
        return batch.map(delivered)
      },
      { order: 'lane', max: 8 },
    )
    const puts = await queue.enqueue('1/push', items(20))
    await settled(queue, puts)
    assert.deepEqual(got, seqsOf(puts))
  })

  /** In a lane ordered by user. */
  const ofUser = (n: number, userId: string): NewItem => ({
    key: userKey('link', userId, String(n)),
    text: `${userId} ${n}`,
  })
  const byUser = { order: 'user', max: 1, concurrency: 4 } as const

  check('ordered by user: a fatal holds what is behind it of its user, and nobody else', async ({ queue, serve }) => {
    const got: string[] = []
    let refusals = 0
    const others = Promise.withResolvers<void>()
    const triedAgain = Promise.withResolvers<void>()
    serve(
      async ([only]) => {
        const { text } = only as Item
        if (text === 'eve 4') await triedAgain.promise
        // Refused until all the others have been delivered.
        if (text === 'ann 0' && got.length < 10) {
          if (++refusals === 2) triedAgain.resolve()
          return [again('message')]
        }
        got.push(text)
        if (got.length === 10) others.resolve()
        return [delivered(only as Item)]
      },
      { ...byUser, retry: { firstMs: 1, mostMs: 2 } },
    )
    const puts = await queue.enqueue(
      '1/push',
      Array.from({ length: 5 }, (_, n) => ['ann', 'bob', 'eve'].map((user) => ofUser(n, user))).flat(),
    )
    await others.promise
    await settled(queue, puts)
    assert.ok(got.slice(0, 10).every((text) => !text.startsWith('ann')))
    for (const user of ['ann', 'bob', 'eve'])
      assert.deepEqual(
        got.filter((text) => text.startsWith(user)),
        Array.from({ length: 5 }, (_, n) => `${user} ${n}`),
      )
  })

  check('ordered by user: never two calls with the same user, whatever ends how', async ({ queue, serve }) => {
    const got = new Map<string, number[]>()
    const away = new Set<string>()
    let turn = 0
    serve(
      async (batch) => {
        const users = new Set(batch.map(({ text }) => text.split(' ')[0] as string))
        for (const user of users) assert.ok(!away.has(user), `${user} is in two calls`)
        for (const user of users) away.add(user)
        await new Promise((resolve) => setTimeout(resolve, turn % 3))
        for (const user of users) away.delete(user)
        const how = ++turn % 7
        if (how === 2) return batch.map(() => again('provider'))
        if (how === 4) return batch.map(() => again('call'))
        if (how === 5) throw new Error('of its own')
        const from = how === 6 ? Math.floor(batch.length / 2) : batch.length
        return batch.map((each, i) => {
          if (i >= from) return again('message')
          const [user, n] = each.text.split(' ') as [string, string]
          got.set(user, [...(got.get(user) ?? []), Number(n)])
          return Number(n) % 5 === 4 ? rejected : delivered(each)
        })
      },
      { order: 'user', max: 8, concurrency: 3, retry: { firstMs: 1, mostMs: 3 } },
    )
    const puts = await queue.enqueue(
      '1/push',
      Array.from({ length: 300 }, (_, i) => ofUser(Math.floor(i / 10), `u${i % 10}`)),
    )
    await settled(queue, puts, 40_000)
    assert.equal(got.size, 10)
    for (const [user, numbers] of got)
      assert.deepEqual(
        numbers,
        Array.from({ length: 30 }, (_, n) => n),
        user,
      )
    const { items: failed } = await queue.failed({ user: 'u3' }, { after: 0, limit: 100 })
    assert.ok(failed.length > 0 && failed.every(({ user }) => user === 'u3'))
  })

  check(
    'ordered by user: what a probe cannot bear goes behind the others, with all of its user',
    async ({ queue, serve }) => {
      const got: string[] = []
      serve(
        async ([only]) => {
          const { text } = only as Item
          if (text.startsWith('ann') && got.length < 4) return [again('provider')]
          got.push(text)
          return [delivered(only as Item)]
        },
        { ...byUser, concurrency: 1, retry: { firstMs: 1, mostMs: 2 } },
      )
      const puts = await queue.enqueue(
        '1/push',
        ['ann', 'ann', 'bob', 'ann', 'eve', 'bob', 'eve'].map((user, n) => ofUser(n, user)),
      )
      await settled(queue, puts)
      assert.deepEqual(got.slice(4), ['ann 0', 'ann 1', 'ann 3'])
      assert.deepEqual(
        got.filter((text) => text.startsWith('bob')),
        ['bob 2', 'bob 5'],
      )
    },
  )

  // ── Failed Actions ──

  check('§6.4: what failed is listed with its evidence, by filter and page', async ({ queue, serve }) => {
    serve(async (batch) => batch.map(() => rejected), { name: '1/push' })
    serve(async (batch) => batch.map(() => ({ ...rejected, error: `U+0000 \0 and half a character \ud800` })), {
      name: '2/push',
    })
    const puts = [await queue.enqueue('1/push', items(5)), await queue.enqueue('2/push', items(5))].flat()
    const outcomes = await settled(queue, puts)
    assert.deepEqual(outcomes[0], {
      seq: puts[0]?.seq,
      lane: '1/push',
      category: 'failed',
      attempts: 1,
      rule: '§7.2.2 failed',
      reason: 'rejected',
      error: 'no such user',
    })
    const all = await queue.failed({}, { after: 0, limit: 100 })
    assert.equal(all.items.length, 10)
    assert.equal(all.next, undefined)
    const { at, ...first } = (
      await queue.failed({ lane: '1/push', activity: '7', action: '9', user: '1001' }, { after: 0, limit: 3 })
    ).items[0] ?? { at: 0 }
    assert.ok(at > 0)
    assert.deepEqual(first, {
      seq: puts[0]?.seq,
      lane: '1/push',
      key: item(1).key,
      activity: '7',
      action: '9',
      user: '1001',
      text: item(1).text,
      reason: 'rejected',
      error: 'no such user',
      rule: '§7.2.2 failed',
      answer: 'said no',
      call: null,
      attempts: 1,
      state: 'pending',
      decidedBy: null,
      decidedAt: null,
    })
    const page = await queue.failed({ lane: '1/push' }, { after: 0, limit: 3 })
    const rest = await queue.failed({ lane: '1/push' }, { after: page.next ?? 0, limit: 3 })
    assert.deepEqual(
      [...page.items, ...rest.items].map(({ seq }) => seq),
      seqsOf(puts.slice(0, 5)),
    )
    assert.deepEqual((await queue.failed({ user: 'nobody' }, { after: 0, limit: 3 })).items, [])
  })

  check('dismissing and replaying decide what matches, once', async ({ queue, serve }) => {
    let accepts = false
    serve(async (batch) => batch.map((each) => (accepts ? delivered(each) : rejected)))
    const puts = await queue.enqueue('1/push', [...items(4), ...[1, 2, 3].map((id) => item(id, '1002'))])
    await settled(queue, puts)
    assert.equal(await queue.decide({ user: '1002' }, 'dismiss', { by: 'anna' }), 3)
    assert.equal(await queue.decide({ user: '1002' }, 'dismiss'), 0)
    const { items: dismissed } = await queue.failed({ state: 'dismissed' }, { after: 0, limit: 10 })
    assert.deepEqual(
      dismissed.map(({ user, decidedBy }) => [user, decidedBy]),
      [
        ['1002', 'anna'],
        ['1002', 'anna'],
        ['1002', 'anna'],
      ],
    )

    // Replayed and failed again: it is pending again.
    assert.equal(await queue.decide({ lane: '1/push' }, 'replay'), 4)
    await until(async () => (await queue.failed({ state: 'pending' }, { after: 0, limit: 10 })).items.length === 4, {
      awaited: 'they fail again',
    })
    accepts = true
    const [a, b] = await Promise.all([queue.decide({}, 'replay'), queue.decide({}, 'replay')])
    assert.equal(a + b, 4)
    const outcomes = await until(
      async () => {
        const found = await queue.outcomes(seqsOf(puts))
        return found.filter(({ category }) => category === 'successful').length === 4 ? found : undefined
      },
      { awaited: 'they are delivered' },
    )
    assert.deepEqual(
      outcomes.map(({ category }) => category),
      [...Array(4).fill('successful'), ...Array(3).fill('failed')],
    )
    assert.equal(await queue.decide({ state: 'dismissed' }, 'replay', { perSecond: 1_000 }), 3)
    await until(async () => (await queue.count()).every(({ category }) => category === 'successful'), {
      awaited: 'all are delivered',
    })
  })

  check(
    'a replay with a rate makes each item due a little after the one before',
    async ({ database, queue, serve }) => {
      const service = serve(async (batch) => batch.map(() => rejected))
      const puts = await queue.enqueue('1/push', items(2_500))
      await settled(queue, puts)
      await service.stop()
      assert.equal(await queue.decide({ lane: '1/push' }, 'replay', { perSecond: 100 }), 2_500)
      const waiting = await database.read(op(selectWaiting, [[]]))
      const [first] = waiting
      assert.deepEqual(
        waiting.map(({ due_at }) => due_at - (first?.due_at as number)),
        waiting.map((_, i) => i * 10),
      )
    },
  )

  check('a lane without Failed Actions keeps the outcome only', async ({ queue, serve }) => {
    serve(async (batch) => batch.map(() => rejected), { keepFailed: false })
    const [outcome] = await settled(queue, await queue.enqueue('1/push', items(1)))
    assert.deepEqual([outcome?.category, outcome?.error], ['failed', 'no such user'])
    assert.deepEqual(await queue.failed({}, { after: 0, limit: 10 }), { items: [] })
  })

  // ── reading, stopping, forgetting ──

  check(
    'what was put off or replayed is read when it is due: in order, as fast as there is room, with bounded memory',
    async ({ database, queue }) => {
      const count = 12_000
      await queue.enqueue('1/push', items(count))
      const first = createStock()
      const before = createReader(database, '1/push', first, 500)
      const now = Date.now()
      const rows: Row[] = []
      while (rows.length < count) {
        await before.turn(now)
        const taken = first.take({ take: first.length, left: [] })
        first.forget(taken)
        rows.push(...taken)
      }
      // Half of them one by one, the others all at once, as a replay has it; all were due a moment ago.
      const putOff = rows.map((row, i) => ({ row, at: i % 2 ? now - count + i : 1 }))
      await database.commit([putOffOp('1/push', putOff)])

      const stock = createStock()
      const reader = createReader(database, '1/push', stock, 500)
      const seen: { seq: number; dueAt: number }[] = []
      // The clock stands still: nothing is left to the next sweep.
      for (let turns = 0; seen.length < count; turns++) {
        assert.ok(turns < 200, `${seen.length} of ${count} were read in ${turns} turns`)
        await reader.turn(now)
        assert.ok(stock.size <= 10_000, `${stock.size} rows in memory`)
        if (reader.hungry) continue
        const taken = stock.take({ take: stock.length, left: [] })
        seen.push(...taken)
        await database.commit(settleOps(engine, '1/push', { rows: taken, settled: [], failed: [] }, now))
        stock.forget(taken)
      }
      assert.deepEqual(
        seen,
        seen.toSorted((a, b) => a.dueAt - b.dueAt || a.seq - b.seq),
      )
      assert.equal(new Set(seen.map(({ seq }) => seq)).size, count)
    },
  )

  check('an item that becomes visible behind a later one is not skipped', async ({ database, queue, serve }) => {
    serve(async (batch) => batch.map(delivered))
    // As on PostgreSQL, when the one who got the lower number commits later.
    const [insert, wait] = putOps('1/push', [item(1)], Date.now())
    const [[late]] = await database.commit([insert])
    await settled(queue, await queue.enqueue('1/push', items(100, 2)))
    await database.commit([wait])
    await settled(queue, [{ seq: late?.seq as number, fresh: true }])
  })

  check(
    'stopping lets a running call end and settles it; the rest waits for the next owner',
    async ({ queue, serve }) => {
      const calls: PromiseWithResolvers<void>[] = []
      const handle: Handle = async (batch, { signal }) => {
        const call = Promise.withResolvers<void>()
        calls.push(call)
        await call.promise
        assert.equal(signal.aborted, false)
        return batch.map(delivered)
      }
      const service = serve(handle, { max: 10, concurrency: 2 })
      const puts = await queue.enqueue('1/push', items(50))
      await until(() => calls.length === 2, { awaited: 'two calls run' })
      const stopped = service.stop(10_000)
      await new Promise(setImmediate)
      for (const call of calls) call.resolve()
      await stopped
      assert.equal(calls.length, 2)
      const outcomes = await queue.outcomes(seqsOf(puts))
      assert.equal(outcomes.filter(({ category }) => category === 'successful').length, 20)
      assert.equal((await service.state()).state, 'elsewhere')

      serve(async (batch) => batch.map(delivered))
      await settled(queue, puts)
    },
  )

  check(
    'a call that does not end in time is aborted, and its items are sent again by the next owner',
    async ({ queue, serve }) => {
      const called = Promise.withResolvers<AbortSignal>()
      const service = serve((_batch, { signal }) => {
        called.resolve(signal)
        return new Promise(() => {})
      })
      const puts = await queue.enqueue('1/push', items(5))
      const signal = await called.promise
      await service.stop(1)
      assert.equal(signal.aborted, true)
      serve(async (batch) => batch.map(delivered))
      await settled(queue, puts)
    },
  )

  check('a lane says how it is', async ({ queue, serve }) => {
    const call = Promise.withResolvers<void>()
    const began = Promise.withResolvers<void>()
    const service = serve(
      async (batch) => {
        began.resolve()
        await call.promise
        return batch.map(delivered)
      },
      { max: 10, concurrency: 1 },
    )
    const puts = await queue.enqueue('1/push', items(30))
    await began.promise
    const { oldestAgeMs, ...state } = await service.state()
    assert.ok(oldestAgeMs >= 0)
    assert.deepEqual(state, { name: '1/push', waiting: 30, owned: true, state: 'running', heldForMs: 0, inFlight: 10 })
    call.resolve()
    await settled(queue, puts)
    assert.deepEqual(await service.state(), {
      name: '1/push',
      waiting: 0,
      oldestAgeMs: 0,
      owned: true,
      state: 'running',
      heldForMs: 0,
      inFlight: 0,
    })
  })

  check('what was settled long ago is forgotten step by step, what waits is not', async ({ queue, serve }) => {
    const service = serve(async (batch) =>
      batch.map((each) => (each.text.includes('"id":7,') ? rejected : delivered(each))),
    )
    const old = await queue.enqueue('1/push', items(6_000))
    await settled(queue, old)
    await service.stop()
    const [waiting] = await queue.enqueue('1/push', [item(7_001)])
    assert.equal(await queue.forget(0), 0)
    let forgotten = 0
    for (let step = 1; step > 0; forgotten += step) step = await queue.forget(Date.now() + 1)
    assert.equal(forgotten, 6_000)
    assert.deepEqual(await queue.outcomes([...seqsOf(old), waiting?.seq as number]), [
      { seq: waiting?.seq, lane: '1/push', category: 'waiting' },
    ])
    assert.deepEqual((await queue.failed({}, { after: 0, limit: 10 })).items, [])
    assert.equal((await queue.enqueue('1/push', [item(1)]))[0]?.fresh, true)
    assert.equal((await queue.enqueue('1/push', [item(7_001)]))[0]?.fresh, false)
  })

  check(
    'stopping when the store does not answer ends in time and leaves nothing running',
    async ({ queue, serve, database, t }) => {
      const service = serve(async (batch) => batch.map(delivered))
      const called = event('batch.sent')
      const { commit } = database
      t.after(() => Object.assign(database, { commit }))
      const puts = await queue.enqueue('1/push', items(10))
      await called
      let tries = 0
      Object.assign(database, {
        commit: () => {
          tries++
          return Promise.reject(new StoreUnavailable('away'))
        },
      })
      await service.stop(50)
      const after = tries
      await new Promise((resolve) => setTimeout(resolve, 1_500))
      assert.equal(tries, after, 'nobody goes on trying')
      assert.equal(puts.length, 10)
    },
  )

  check('each settled item is told, once', async ({ queue, serve, t }) => {
    const told: number[] = []
    t.after(on('item.settled', ({ lane, seq }) => void (lane === '1/push' && told.push(seq))))
    serve(async (batch) => batch.map(delivered))
    const puts = await queue.enqueue('1/push', items(100))
    await settled(queue, puts)
    // Told when it is on disk, which may be a moment after it can be read.
    await until(() => told.length >= puts.length, { awaited: '100 items told' })
    assert.deepEqual(
      told.toSorted((a, b) => a - b),
      seqsOf(puts),
    )
  })
}
