// Several processes on one PostgreSQL divide the lanes. The proof `division` has joins, deaths, stops and idle processes.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { createQueue, queueMigrations } from '../../src/base/queue/create-queue.ts'
import type { Item, LaneService, Queue } from '../../src/base/queue/queue.ts'
import type { Database } from '../../src/base/store/database.ts'
import { openDatabase } from '../../src/base/store/open-database.ts'
import { delivered, laneOf, waitUntilSettled } from '../suites/queue.ts'
import { freshSchema, query, withoutPostgres } from '../support/services/postgres.ts'
import { until } from '../support/wait.ts'

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
    const counted = countLooks((await startServer(t, url, { served, handle })).database)
    // The other process must not take the lane while the call runs.
    await until(() => counted.looks >= 3, { awaited: 'the other process has looked three times' })
    assert.deepEqual(await sharesOf(url), [2])
    call.resolve()
    await untilShares(url, [1, 1])
    await waitUntilSettled(a.queue, enqueued)
    assert.equal(handled.length, 2)
  },
)

/** Counts from now on how often a process has read the rows of all processes. */
function countLooks(database: Database): { looks: number } {
  const counted = { looks: 0 }
  const { commit } = database
  Object.assign(database, {
    commit(...args: Parameters<typeof commit>) {
      if (args[0].some((op) => op.statement.name === 'lane_processes')) counted.looks++
      return commit(...args)
    },
  })
  return counted
}
