// A clock that is set, in either direction, changes no wait of a lane.

import assert from 'node:assert/strict'
import { clock } from '../../src/base/runtime/clock.ts'
import { on } from '../../src/base/runtime/events.ts'
import { op, rows, statement } from '../../src/base/store/statement.ts'
import { checkInMemory as check, delivered, fatal, items, seqsOf, waitUntilSettled } from '../suites/queue.ts'
import { hourMs, passTime, setClock } from '../support/set-clock.ts'
import { event, until } from '../support/wait.ts'

const selectDueAt = statement<{ due_at: number }>('due_times', {})`
  select w.due_at from waiting w order by w.seq`
const postpone = statement('postpone_item', { seq: 'bigint', due_at: 'bigint', attempt: 'bigint' })`
  update waiting set due_at = r.due_at, attempt = r.attempt from ${rows} r where waiting.seq = r.seq`

for (const hours of [-3, 3]) {
  check(
    `a held lane waits for its pause, no longer and no shorter, although the clock is set by ${hours} h`,
    async ({ queue, serve, t }) => {
      let away = true
      const service = serve(async (batch) =>
        batch.map((each) => (away ? fatal('provider', { retryAfterMs: 60_000 }) : delivered(each))),
      )
      const held = event('lane.held')
      const enqueued = await queue.enqueue('1/push', items(3))
      await held
      away = false
      setClock(t, hours * hourMs)
      const { state, heldForMs, oldestAgeMs } = await service.state()
      assert.equal(state, 'held')
      assert.ok(heldForMs >= 0 && heldForMs < 10_000, `held for ${heldForMs} ms`)
      assert.ok(oldestAgeMs >= 0)
      const later = await queue.enqueue('1/push', items(1, 10))
      assert.equal((await service.state()).state, 'held')
      passTime(t, 60_000)
      // The lane looks at its pause when an item arrives.
      await waitUntilSettled(queue, [...enqueued, ...later, ...(await queue.enqueue('1/push', items(1, 20)))])
    },
  )

  check(
    `a postponed retry is due after its backoff, although the clock is set by ${hours} h`,
    async ({ queue, serve, database, t }) => {
      serve(async (batch) =>
        batch.map((each) =>
          each.text.includes('"id":1,') && each.attempt === 1
            ? fatal('message', { retryAfterMs: 60_000 })
            : delivered(each),
        ),
      )
      const enqueued = await queue.enqueue('1/push', items(1))
      await until(async () => ((await database.read(op(selectDueAt, [[]])))[0]?.due_at ?? 0) > 0, {
        awaited: 'the item is postponed',
      })
      setClock(t, hours * hourMs)
      // A lane with a due item is swept, and then reads all that is due.
      await waitUntilSettled(queue, await queue.enqueue('1/push', items(1, 10)))
      assert.equal((await queue.readOutcomes(seqsOf(enqueued)))[0]?.category, 'waiting', 'not before its time')
      passTime(t, 60_000)
      const [outcome] = await waitUntilSettled(queue, enqueued)
      assert.equal(outcome?.attempts, 2)
    },
  )
}

check(
  'the next owner of several lanes brings due times by a clock that was ahead down to the longest backoff of each',
  async ({ queue, serve, database }) => {
    const enqueued = await queue.enqueue('1/push', items(2))
    const [retry, replayed] = seqsOf(enqueued) as [number, number]
    const [other] = seqsOf(await queue.enqueue('2/push', items(1))) as [number]
    const [now, far] = [clock.now(), clock.now() + 3 * hourMs]
    await database.commit([
      op(postpone, [
        [retry, far, 1],
        [replayed, far, 0],
        [other, far, 1],
      ]),
    ])
    const repeated: unknown[] = []
    const off = on('store.repeated', (event) => repeated.push(event))
    for (const [name, minutes] of [
      ['1/push', 15],
      ['2/push', 20],
    ] as const)
      serve(async (batch) => batch.map(delivered), { name, retry: { firstMs: 1, mostMs: minutes * 60_000 } })
    const dueTimes = async () => (await database.read(op(selectDueAt, [[]]))).map(({ due_at: at }) => at)
    await until(async () => (await dueTimes()).filter((at) => at !== far).length === 2, {
      awaited: 'both due times are changed',
    })
    off()
    const [first, second, third] = (await dueTimes()).map((at) => Math.round((at - now) / 60_000))
    assert.deepEqual([first, second, third], [15, 180, 20], 'a replay at a rate keeps its pace')
    assert.deepEqual(repeated, [])
  },
)
