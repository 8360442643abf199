// Lanes are added, changed and removed while the others go on.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { createQueue, queueMigrations } from '../../src/base/queue/create-queue.ts'
import { createLaneSet } from '../../src/base/queue/lane-set.ts'
import { openDatabase } from '../../src/base/store/open-database.ts'
import { delivered, items, laneOf } from '../suites/queue.ts'
import { until } from '../support/wait.ts'

interface Options {
  readonly max: number
  readonly fails?: true
}

/** A set of real lanes. Each call waits until the test ends it. */
async function served(t: TestContext) {
  const database = await openDatabase('sqlite::memory:', { migrations: queueMigrations })
  const queue = createQueue(database)
  const calls: { readonly lane: string; readonly max: number; readonly items: number; end(): void }[] = []
  const log: string[] = []
  const set = createLaneSet<Options>(({ max, fails }, name) => {
    if (fails) throw new Error('the provider cannot be created')
    const service = queue.serveLane(laneOf({ name, max }), async (batch) => {
      const call = Promise.withResolvers<void>()
      calls.push({ lane: name, max, items: batch.length, end: call.resolve })
      await call.promise
      return batch.map(delivered)
    })
    return {
      ...service,
      start() {
        log.push(`${name} ${max} starts`)
        service.start()
      },
      async stop(withinMs) {
        await service.stop(withinMs)
        log.push(`${name} ${max} ends`)
      },
    }
  })
  t.after(async () => {
    for (const { end } of calls) end()
    await set.stop(100)
    await database.close()
  })
  const callOf = (lane: string, max: number) =>
    until(() => calls.find((call) => call.lane === lane && call.max === max), { awaited: `a call of ${lane} ${max}` })
  const settled = (count: number) =>
    until(
      async () =>
        (await queue.countItems()).reduce((sum, each) => sum + (each.category === 'successful' ? each.items : 0), 0) ===
        count,
      { awaited: `${count} delivered messages` },
    )
  const replace = (lanes: Readonly<Record<string, Options>>) => set.replace(new Map(Object.entries(lanes)))
  return { queue, set, replace, log, calls, callOf, settled }
}

const [one, two, changed] = [{ max: 1 }, { max: 2 }, { max: 3 }] as const

test('a lane with a call in progress goes on while another one is added, changed and removed', async (t) => {
  const { queue, set, replace, log, callOf, calls, settled } = await served(t)
  replace({ '1/push': one })
  set.start()
  await queue.enqueue('1/push', items(1))
  const slow = await callOf('1/push', 1)
  replace({ '1/push': one, '2/push': two })
  assert.deepEqual(
    set.list().map(({ name }) => name),
    ['1/push', '2/push'],
  )
  await queue.enqueue('2/push', items(1))
  const former = await callOf('2/push', 2)

  // The calls of the changed lane end before it starts again.
  replace({ '1/push': one, '2/push': changed })
  await queue.enqueue('2/push', items(1, 2))
  former.end()
  ;(await callOf('2/push', 3)).end()
  await settled(2)
  replace({ '1/push': one })
  await until(() => log.includes('2/push 3 ends'), { awaited: 'the end of the removed lane' })
  assert.deepEqual(log, ['1/push 1 starts', '2/push 2 starts', '2/push 2 ends', '2/push 3 starts', '2/push 3 ends'])
  slow.end()
  await settled(3)
  assert.deepEqual(
    calls.map(({ lane, items }) => [lane, items]),
    [
      ['1/push', 1],
      ['2/push', 1],
      ['2/push', 1],
    ],
    'each message was sent once',
  )
})

test('if a lane cannot be created, nothing changes', async (t) => {
  const { queue, set, replace, log, callOf, settled } = await served(t)
  replace({ '1/push': one, '2/push': two })
  set.start()
  assert.throws(
    () => replace({ '2/push': changed, '3/push': { max: 1, fails: true } }),
    /the provider cannot be created/,
  )
  assert.deepEqual(
    set.list().map(({ name, lane }) => [name, lane.max]),
    [
      ['1/push', 1],
      ['2/push', 2],
    ],
  )
  await queue.enqueue('2/push', items(1))
  ;(await callOf('2/push', 2)).end()
  await settled(1)
  assert.deepEqual(
    log.filter((line) => !line.startsWith('2/push 3')),
    ['1/push 1 starts', '2/push 2 starts'],
  )
})

test('messages of a removed lane wait until it is added again; a lane that comes and goes twice is served once', async (t) => {
  const { queue, set, replace, log, callOf, settled } = await served(t)
  replace({})
  set.start()
  replace({ '1/push': one })
  await queue.enqueue('1/push', items(1))
  const first = await callOf('1/push', 1)
  replace({})
  await queue.enqueue('1/push', items(1, 2))
  replace({ '1/push': two })
  replace({ '1/push': changed })
  first.end()
  ;(await callOf('1/push', 3)).end()
  await settled(2)
  assert.deepEqual(log, ['1/push 1 starts', '1/push 1 ends', '1/push 2 ends', '1/push 3 starts'])
  await set.stop(100)
  assert.equal(log.at(-1), '1/push 3 ends')
})
