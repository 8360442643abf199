// Two processes on one PostgreSQL take a lane over from each other.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { createQueue, queueMigrations } from '../../src/base/queue/create-queue.ts'
import type { EnqueuedItem, Queue } from '../../src/base/queue/queue.ts'
import { waitUntilSettled as untilSettled } from '../suites/queue.ts'
import { openTestDatabase } from '../support/open-test-database.ts'
import { freshSchema, withoutPostgres } from '../support/services/postgres.ts'
import { temporary } from '../support/sides.ts'
import { until } from '../support/wait.ts'
import { forkLane, type LaneProcess, type LaneProcessOptions } from './lane-process.ts'

const skip = await withoutPostgres()

interface Scene {
  readonly t: TestContext
  readonly queue: Queue
  fork(options?: Pick<LaneProcessOptions, 'halts' | 'leaseMs' | 'perSecond'>): Promise<LaneProcess>
  /** The processes that handled each item. */
  calls(): Promise<Map<number, number[]>>
  /** The time of each handled item, ascending. */
  times(): Promise<number[]>
}

function check(title: string, run: (scene: Scene) => Promise<void>): void {
  test(title, { skip, timeout: 90_000 }, async (t) => {
    const url = await freshSchema()
    const witness = join(await temporary(t), 'witness')
    const database = await openTestDatabase(t, url, { migrations: queueMigrations })
    await run({
      t,
      queue: createQueue(database),
      fork: (options) => forkLane(t, { url, witness, ...options }),
      async calls() {
        const calls = new Map<number, number[]>()
        for (const [seq, pid] of await readWitness()) calls.set(seq, [...(calls.get(seq) ?? []), pid])
        return calls
      },
      times: async () => (await readWitness()).map(([, , at]) => at).sort((a, b) => a - b),
    })

    async function readWitness(): Promise<[seq: number, pid: number, at: number][]> {
      const lines = (await readFile(witness, 'utf8').catch(() => '')).split('\n').filter((each) => each !== '')
      return lines.map((line) => line.split(' ').map(Number) as [number, number, number])
    }
  })
}

let nextKey = 0
const enqueueItems = (queue: Queue, count: number): Promise<readonly EnqueuedItem[]> =>
  queue.enqueue(
    '1/push',
    Array.from({ length: count }, () => ({ key: `item ${nextKey++}`, text: 'text' })),
  )

const waitUntilSettled = (queue: Queue, enqueued: readonly EnqueuedItem[]) => untilSettled(queue, enqueued, 40_000)

const processesOf = (calls: Map<number, number[]>, enqueued: readonly EnqueuedItem[]): number[][] =>
  enqueued.map(({ seq }) => calls.get(seq) ?? [])

check(
  'a process killed between call and answer: the other process sends exactly the unsettled items again',
  async ({ queue, fork, calls }) => {
    const a = await fork({ halts: true })
    await a.waitFor('lane.owned')
    const b = await fork()
    const enqueued = await enqueueItems(queue, 500)
    await a.waitFor('halted')
    await a.kill()
    await waitUntilSettled(queue, enqueued)
    const handlers = processesOf(await calls(), enqueued)
    const twice = handlers.filter((pids) => pids.length === 2)
    assert.ok(twice.length >= 50 && twice.length <= 100, `${twice.length} items were in calls`)
    for (const pids of handlers) assert.deepEqual(pids, pids.length === 2 ? [a.pid, b.pid] : [b.pid])
  },
)

check(
  'a process that was stopped for longer than its lease drops the items that another has taken over',
  async ({ queue, fork, calls }) => {
    const a = await fork({ leaseMs: 1_000 })
    await a.waitFor('lane.owned')
    await waitUntilSettled(queue, await enqueueItems(queue, 100))
    a.signal('SIGSTOP')
    const b = await fork()
    const enqueued = await enqueueItems(queue, 300)
    await b.waitFor('lane.owned')
    await waitUntilSettled(queue, enqueued)
    a.signal('SIGCONT')
    await a.waitFor('lane.lost')
    const more = await enqueueItems(queue, 300)
    // The first process joins again: it may own the lane meanwhile, and on a slow machine it may lose it once more during a call.
    await waitUntilSettled(queue, more)
    for (const pids of processesOf(await calls(), enqueued)) assert.deepEqual(pids, [b.pid])
  },
)

check('a lane keeps its rate over changes of its owner', async ({ queue, fork, times }) => {
  const perSecond = 50
  let owner = await fork({ perSecond })
  await owner.waitFor('lane.owned')
  const enqueuedAt = Date.now()
  const enqueued = await enqueueItems(queue, 250)
  for (let round = 0; round < 2; round++) {
    const next = await fork({ perSecond })
    const seen = (await times()).length
    // Killed right after a call, while the other process already tries to own the lane.
    await until(async () => (await times()).length > seen, { awaited: 'a call' })
    await owner.kill()
    await next.waitFor('lane.owned')
    owner = next
  }
  await waitUntilSettled(queue, enqueued)
  // No second has more than 50 items, so that of 251 the last waits for 5 s. A busy machine only adds to that.
  const all = await times()
  const [lastAfter, leastMs] = [(all.at(-1) as number) - enqueuedAt, Math.floor((all.length - 1) / perSecond) * 1_000]
  assert.ok(lastAfter >= leastMs, `${all.length} items were sent within ${lastAfter} ms`)
})
