// How long a lane is held, why, and who may end it.

import assert from 'node:assert/strict'
import { createQueue } from '../../src/base/queue/create-queue.ts'
import type { Item } from '../../src/base/queue/queue.ts'
import { on } from '../../src/base/runtime/events.ts'
import { op, statement } from '../../src/base/store/statement.ts'
import {
  checkInMemory as check,
  delivered,
  fatal,
  items,
  laneOf,
  type QueueTest,
  rejected,
  waitUntilSettled,
} from '../suites/queue.ts'
import { passTime } from '../support/set-clock.ts'
import { event, until } from '../support/wait.ts'

const selectHolds = statement<{ reason: string }>('stored_holds', {})`
  select c.reason from controls c where c.kind = 'hold'`
const storedHolds = ({ database }: QueueTest) => database.read(op(selectHolds, [[]]))
const untilStored = (test: QueueTest) =>
  until(async () => (await storedHolds(test)).length, { awaited: 'the pause is stored' })

const askForPause = fatal('provider', { error: 'come back later', retryAfterMs: 60_000 })

check('a pause that the operator asked for goes on after a restart, and ends with one probe', async (fixture) => {
  const { queue, database, serve, t } = fixture
  const service = serve(async (batch) => batch.map(() => askForPause))
  const enqueued = await queue.enqueue('1/push', items(50))
  await untilStored(fixture)
  await service.stop()

  const calls: (readonly Item[])[] = []
  const restarted = createQueue(database)
  const held = event('lane.held')
  const next = restarted.serveLane(laneOf(), async (batch) => {
    calls.push(batch)
    return batch.map(delivered)
  })
  t.after(() => next.stop(100))
  next.start()
  const { reason, forMs } = await held
  assert.equal(reason, 'come back later')
  assert.ok(forMs > 50_000 && forMs <= 60_000, `${forMs} ms`)
  const { state, heldReason, nextTryAt = 0 } = await next.state()
  assert.deepEqual([state, heldReason], ['held', 'come back later'])
  assert.ok(nextTryAt > Date.now() + 50_000)
  await restarted.enqueue('1/push', items(1, 100))
  assert.equal(calls.length, 0)
  passTime(t, 60_000)
  await waitUntilSettled(restarted, [...enqueued, ...(await restarted.enqueue('1/push', items(1, 200)))])
  assert.equal(calls[0]?.length, 1, 'one message probes')
})

check('§7.1: a 4xx with Retry-After fails its message, and the lane waits before the next one', async (fixture) => {
  const { queue, serve, t } = fixture
  let asks = true
  const service = serve(
    async (batch) => batch.map((each) => (asks ? { ...rejected, retryAfterMs: 60_000 } : delivered(each))),
    { max: 1, concurrency: 1 },
  )
  const held = event('lane.held')
  const enqueued = await queue.enqueue('1/push', items(100))
  await held
  await untilStored(fixture)
  const failed = async () => (await queue.readOutcomes(enqueued.map(({ seq }) => seq))).filter(isFailed).length
  await until(async () => (await failed()) === 1, { awaited: 'the message is in Failed Actions' })
  assert.equal((await service.state()).state, 'held')
  asks = false
  passTime(t, 60_000)
  await waitUntilSettled(queue, [...enqueued, ...(await queue.enqueue('1/push', items(1, 200)))])
  assert.equal(await failed(), 1, 'and no other message')
})

check(
  'a 429 without Retry-After holds the lane for its backoff, and a probe that gets one lengthens it',
  async ({ queue, serve }) => {
    const waits: number[] = []
    const off = on('lane.held', ({ forMs }) => void waits.push(forMs))
    let limited = 3
    serve(async (batch) => batch.map((each) => (limited-- > 0 ? { ...rejected, retryAfterMs: 0 } : delivered(each))), {
      max: 1,
      concurrency: 1,
      retry: { firstMs: 10, mostMs: 40 },
    })
    const released = event('lane.released')
    const outcomes = await waitUntilSettled(queue, await queue.enqueue('1/push', items(20)))
    await released
    off()
    assert.equal(outcomes.filter(isFailed).length, 3)
    assert.equal(waits.length, 3)
  },
)

check('a person ends the wait of a held lane, also a pause that the operator asked for', async (fixture) => {
  const { queue, serve } = fixture
  let away = true
  serve(async (batch) => batch.map((each) => (away ? askForPause : delivered(each))))
  const enqueued = await queue.enqueue('1/push', items(20))
  await untilStored(fixture)
  away = false
  const released = event('lane.released')
  await queue.probeLanes(['1/push'])
  await released
  await waitUntilSettled(queue, enqueued)
  assert.deepEqual(await storedHolds(fixture), [], 'nor does the next start wait')
})

check('a wrong key of an operator is one alert for each outage', async ({ queue, serve, t }) => {
  const alerts: string[] = []
  t.after(on('provider.alert', ({ provider, error }) => void alerts.push(`${provider}: ${error}`)))
  let wrong = true
  serve(
    async (batch) =>
      batch.map((each) =>
        wrong ? fatal('provider', { reason: 'misconfigured', error: 'wrong key' }) : delivered(each),
      ),
    { retry: { firstMs: 1, mostMs: 2 } },
  )
  let holds = 0
  t.after(on('lane.held', () => void holds++))
  const enqueued = await queue.enqueue('1/push', items(5))
  await until(() => holds > 5, { awaited: 'several probes' })
  assert.deepEqual(alerts, ['1/push: wrong key'])
  wrong = false
  await waitUntilSettled(queue, enqueued)
})

const isFailed = ({ category }: { readonly category: string }): boolean => category === 'failed'
