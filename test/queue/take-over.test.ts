// Two real processes on one PostgreSQL take a lane over from each other.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { createQueue, queueMigrations } from '../../src/queue/create-queue.ts'
import type { Put, Queue } from '../../src/queue/queue.ts'
import { openDatabase } from '../../src/store/open-database.ts'
import { freshSchema, withoutPostgres } from '../support/services/postgres.ts'
import { temporary } from '../support/sides.ts'
import { until } from '../support/wait.ts'
import { forkLane, type Halt, type LaneProcess } from './lane-process.ts'

const skip = await withoutPostgres()

interface Scene {
  readonly t: TestContext
  readonly queue: Queue
  fork(halt?: Halt, leaseMs?: number): Promise<LaneProcess>
  /** Which processes each item was handed to. */
  calls(): Promise<Map<number, number[]>>
}

function check(title: string, run: (scene: Scene) => Promise<void>): void {
  test(title, { skip, timeout: 90_000 }, async (t) => {
    const url = await freshSchema()
    const witness = join(await temporary(t), 'witness')
    const database = await openDatabase(url, { migrations: queueMigrations })
    t.after(() => database.close())
    await run({
      t,
      queue: createQueue(database),
      fork: (halt = 'never', leaseMs) => forkLane(t, { url, witness, halt, ...(leaseMs && { leaseMs }) }),
      async calls() {
        const calls = new Map<number, number[]>()
        const lines = (await readFile(witness, 'utf8').catch(() => '')).split('\n')
        for (const line of lines.filter((each) => each !== '')) {
          const [seq, pid] = line.split(' ').map(Number) as [number, number]
          calls.set(seq, [...(calls.get(seq) ?? []), pid])
        }
        return calls
      },
    })
  })
}

let nextKey = 0
const put = (queue: Queue, count: number): Promise<readonly Put[]> =>
  queue.enqueue(
    '1/push',
    Array.from({ length: count }, () => ({ key: `item ${nextKey++}`, text: 'text' })),
  )

const allSettled = (queue: Queue, puts: readonly Put[]) =>
  until(
    async () => {
      const outcomes = await queue.outcomes(puts.map(({ seq }) => seq))
      return outcomes.every(({ category }) => category === 'successful') ? outcomes : undefined
    },
    { awaited: 'all are settled', withinMs: 40_000 },
  )

const whose = (calls: Map<number, number[]>, puts: readonly Put[]): number[][] =>
  puts.map(({ seq }) => calls.get(seq) ?? [])

check('one process serves a lane at a time; the other waits', async ({ queue, fork, calls }) => {
  const a = await fork()
  await a.told('lane.owned')
  const b = await fork()
  const puts = await put(queue, 500)
  await allSettled(queue, puts)
  assert.deepEqual(new Set(whose(await calls(), puts).flat()), new Set([a.pid]))
  await a.kill()
  await b.told('lane.owned')
  const more = await put(queue, 500)
  await allSettled(queue, more)
  assert.deepEqual(new Set(whose(await calls(), more).flat()), new Set([b.pid]))
})

check(
  'killed between call and answer: what was not settled is sent again by the other, nothing else is',
  async ({ queue, fork, calls }) => {
    const a = await fork('before the answer')
    await a.told('lane.owned')
    const b = await fork()
    const puts = await put(queue, 500)
    await a.told('halted')
    await a.kill()
    await allSettled(queue, puts)
    const handed = whose(await calls(), puts)
    const twice = handed.filter((pids) => pids.length === 2)
    assert.ok(twice.length >= 50 && twice.length <= 100, `${twice.length} items were in calls`)
    for (const pids of handed) assert.deepEqual(pids, pids.length === 2 ? [a.pid, b.pid] : [b.pid])
  },
)

check(
  'killed between acceptance and settle: sent again, each outcome is the one that was settled',
  async ({ queue, fork, calls }) => {
    const a = await fork('before the settle')
    await a.told('lane.owned')
    const puts = await put(queue, 120)
    await a.told('halted')
    await a.kill()
    const b = await fork()
    const outcomes = await allSettled(queue, puts)
    for (const { seq, ref } of outcomes) assert.equal(ref, `${b.pid} ${seq}`)
    for (const pids of whose(await calls(), puts)) assert.equal(pids.at(-1), b.pid)
  },
)

check(
  'taken over again and again while items come: nothing is lost, and no process sends an item twice',
  async ({ queue, fork, calls }) => {
    const puts: Put[] = []
    let owner = await fork()
    await owner.told('lane.owned')
    for (let round = 0; round < 5; round++) {
      const next = await fork()
      const seen = (await calls()).size
      puts.push(...(await put(queue, 400)))
      // Somewhere in the middle of the work, or just behind it.
      await until(async () => (await calls()).size > seen, { awaited: 'the owner works' })
      await owner.kill()
      await next.told('lane.owned')
      owner = next
    }
    await allSettled(queue, puts)
    const handed = whose(await calls(), puts)
    assert.ok(handed.every((pids) => pids.length > 0))
    for (const pids of handed) assert.equal(new Set(pids).size, pids.length)
  },
)

check(
  'stopped for longer than the lease and continued, it drops what another has taken over',
  async ({ queue, fork, calls }) => {
    const a = await fork('never', 1_000)
    await a.told('lane.owned')
    await allSettled(queue, await put(queue, 100))
    a.signal('SIGSTOP')
    const b = await fork()
    const puts = await put(queue, 300)
    await b.told('lane.owned')
    await allSettled(queue, puts)
    a.signal('SIGCONT')
    await a.told('lane.lost')
    const more = await put(queue, 300)
    await allSettled(queue, more)
    const all = whose(await calls(), [...puts, ...more])
    assert.deepEqual(new Set(all.flat()), new Set([b.pid]))
    assert.ok(all.every((pids) => pids.length === 1))
  },
)
