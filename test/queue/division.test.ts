// Several processes on one PostgreSQL divide the lanes.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { createQueue, queueMigrations } from '../../src/base/queue/create-queue.ts'
import type { EnqueuedItem, Item, LaneService, Queue } from '../../src/base/queue/queue.ts'
import type { Database, Op } from '../../src/base/store/database.ts'
import { openDatabase } from '../../src/base/store/open-database.ts'
import { delivered, laneOf, waitUntilSettled } from '../suites/queue.ts'
import { openTestDatabase } from '../support/open-test-database.ts'
import { freshSchema, query, withoutPostgres } from '../support/services/postgres.ts'
import { temporary } from '../support/sides.ts'
import { until } from '../support/wait.ts'
import { forkLane } from './lane-process.ts'

const options = { skip: await withoutPostgres(), timeout: 90_000 }
const lanes = (count: number, from = 1): string[] => Array.from({ length: count }, (_, i) => `${from + i}/push`)

interface Server {
  readonly database: Database
  readonly queue: Queue
  readonly services: readonly LaneService[]
  stop(): Promise<void>
}

interface ServerOptions {
  readonly served: readonly string[]
  readonly handle?: (items: readonly Item[]) => Promise<unknown>
}

/** Starts a database and a queue of their own, like another process. */
async function startServer(t: TestContext, url: string, { served, handle }: ServerOptions): Promise<Server> {
  const database = await openDatabase(url, { migrations: queueMigrations })
  const queue = createQueue(database)
  const over = { max: 10, timeoutMs: 20_000, retry: { firstMs: 10, mostMs: 100 } }
  const services = served.map((name) =>
    queue.serveLane(laneOf({ name, ...over }), async (items) => {
      await handle?.(items)
      return items.map(delivered)
    }),
  )
  for (const service of services) service.start()
  let stopped = false
  const stop = async (): Promise<void> => {
    if (stopped) return
    stopped = true
    await Promise.all(services.map((service) => service.stop()))
    await database.close()
  }
  t.after(stop)
  return { database, queue, services, stop }
}

/** The sizes of the shares that the database knows, the smallest first. */
async function sharesOf(url: string): Promise<number[]> {
  const rows = await query(url, 'select count(*)::int as lanes from lane_owners group by owner order by 1')
  return rows.map(({ lanes: size }) => Number(size))
}

const untilShares = (url: string, expected: readonly number[]) =>
  until(async () => String(await sharesOf(url)) === String(expected), {
    awaited: `the shares are ${expected}`,
    withinMs: 30_000,
  })

let nextKey = 0
const newItems = (count: number) => Array.from({ length: count }, () => ({ key: `item ${nextKey++}`, text: 'text' }))

test('lanes are divided evenly when processes join and leave, and each item is handled once', options, async (t) => {
  const url = await freshSchema()
  const handled = new Map<number, number>()
  const handle = async (items: readonly Item[]): Promise<void> => {
    for (const { seq } of items) handled.set(seq, (handled.get(seq) ?? 0) + 1)
    // Some calls run while a lane is given back.
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const served = lanes(60)
  const a = await startServer(t, url, { served, handle })
  await untilShares(url, [60])

  let joining = true
  const enqueued: EnqueuedItem[] = []
  const enqueueing = (async () => {
    for (let i = 0; joining; i++) enqueued.push(...(await a.queue.enqueue(served[i % 60] as string, newItems(20))))
  })()
  const b = await startServer(t, url, { served, handle })
  await untilShares(url, [30, 30])
  const c = await startServer(t, url, { served, handle })
  await untilShares(url, [20, 20, 20])
  await b.stop()
  await untilShares(url, [30, 30])
  joining = false
  await enqueueing
  await waitUntilSettled(a.queue, enqueued)
  assert.deepEqual(
    enqueued.filter(({ seq }) => handled.get(seq) !== 1),
    [],
    `of ${enqueued.length} items`,
  )
  const owned = await Promise.all([...a.services, ...c.services].map((service) => service.state()))
  assert.equal(owned.filter((state) => state.owned).length, 60)
})

test(
  'the lanes of a killed process are taken over, and only items of its running calls are handled again',
  options,
  async (t) => {
    const url = await freshSchema()
    const witness = join(await temporary(t), 'witness')
    const served = lanes(30)
    const database = await openTestDatabase(t, url, { migrations: queueMigrations })
    const queue = createQueue(database)
    const [first, second, third] = await Promise.all([1, 2, 3].map(() => forkLane(t, { url, witness, lanes: served })))
    await untilShares(url, [10, 10, 10])
    const enqueued: EnqueuedItem[] = []
    const enqueueAll = async (): Promise<void> => {
      for (const lane of served) enqueued.push(...(await queue.enqueue(lane, newItems(100))))
    }
    const enqueueing = enqueueAll()
    await until(async () => (await readFile(witness, 'utf8').catch(() => '')).includes(` ${second?.pid} `), {
      awaited: 'the second process works',
    })
    await second?.kill()
    await untilShares(url, [15, 15])
    await enqueueing
    await enqueueAll()
    await waitUntilSettled(queue, enqueued, 40_000)
    const handlers = new Map<number, Set<number>>()
    for (const line of (await readFile(witness, 'utf8')).trim().split('\n')) {
      const [seq, pid] = line.split(' ').map(Number) as [number, number]
      assert.ok(!handlers.get(seq)?.has(pid), `process ${pid} handled item ${seq} twice`)
      handlers.set(seq, (handlers.get(seq) ?? new Set()).add(pid))
    }
    for (const { seq } of enqueued) {
      const pids = handlers.get(seq) ?? new Set()
      assert.ok(pids.size === 1 || (pids.size === 2 && pids.has(second?.pid as number)), `item ${seq}: ${[...pids]}`)
    }
    assert.ok(first && third)
  },
)

test(
  'each lane is owned by a process that serves it, although the processes serve different lanes',
  options,
  async (t) => {
    const url = await freshSchema()
    const old = await startServer(t, url, { served: lanes(10) })
    const next = await startServer(t, url, { served: lanes(10, 6) })
    const owners = await until(
      async () => {
        const states = await Promise.all([...old.services, ...next.services].map((service) => service.state()))
        const names = states.filter(({ owned }) => owned).map(({ name }) => name)
        return names.length === 15 && new Set(names).size === 15 ? states : undefined
      },
      { awaited: 'each of 15 lanes has one owner', withinMs: 30_000 },
    )
    assert.ok(owners)
    // A lane that its only process stops serving is left to a process that begins to serve it.
    await old.stop()
    await untilShares(url, [10])
    await startServer(t, url, { served: lanes(15) })
    await untilShares(url, [7, 8])
  },
)

test(
  'a lane with a running call is given back after the call has ended, and its outcome is settled once',
  options,
  async (t) => {
    const url = await freshSchema()
    const call = Promise.withResolvers<void>()
    const handled: string[] = []
    const handle = async (items: readonly Item[]): Promise<void> => {
      handled.push(...items.map(({ key }) => key))
      await call.promise
    }
    const served = lanes(2)
    const a = await startServer(t, url, { served, handle })
    const enqueued = [await a.queue.enqueue('1/push', newItems(1)), await a.queue.enqueue('2/push', newItems(1))].flat()
    await until(() => handled.length === 2, { awaited: 'both calls run' })
    const counted = countStatements((await startServer(t, url, { served, handle })).database)
    // The other process must not take the lane while the call runs.
    await until(() => counted.looks >= 3, { awaited: 'the other process has looked three times' })
    assert.deepEqual(await sharesOf(url), [2])
    call.resolve()
    await untilShares(url, [1, 1])
    await waitUntilSettled(a.queue, enqueued)
    assert.equal(handled.length, 2)
  },
)

test('two idle processes read as often for 500 lanes as for 1', options, async (t) => {
  /** Resolves when the processes have read this little for six looks in a row. A lane with a new owner still reads its controls. */
  const untilIdle = async (served: readonly string[], mostPerLook: number): Promise<void> => {
    const url = await freshSchema()
    const servers = [await startServer(t, url, { served }), await startServer(t, url, { served })]
    const counts = servers.map(({ database }) => countStatements(database))
    const countLooks = async (): Promise<number> => {
      for (const counted of counts) Object.assign(counted, { statements: 0, looks: 0 })
      await until(() => counts.every(({ looks }) => looks >= 6), { awaited: 'six looks', withinMs: 30_000 })
      return Math.max(...counts.map(({ statements, looks }) => statements / looks))
    }
    await until(async () => (await countLooks()) <= mostPerLook, {
      awaited: `at most ${mostPerLook} statements a look for ${served.length} lanes`,
      withinMs: 45_000,
    })
    await Promise.all(servers.map((server) => server.stop()))
  }
  // A look is two statements. There is a sweep a second, and looks are slower on a busy machine.
  await Promise.all([untilIdle(lanes(1), 5), untilIdle(lanes(500), 5)])
})

interface Counted {
  statements: number
  /** How often the process has read the rows of all processes. */
  looks: number
}

/** Counts the statements of a process from now on. */
function countStatements(database: Database): Counted {
  const counted: Counted = { statements: 0, looks: 0 }
  for (const name of ['read', 'commit', 'alive'] as const) {
    const method = database[name] as (...args: unknown[]) => unknown
    Object.assign(database, {
      [name](...args: unknown[]) {
        counted.statements++
        if (name === 'commit' && (args[0] as readonly Op[]).some((op) => op.statement.name === 'lane_processes'))
          counted.looks++
        return method(...args)
      },
    })
  }
  return counted
}
