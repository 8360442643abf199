// The suite of the controls of a running lane, for every engine. Run by test/queue/lane-controls.test.ts.

import assert from 'node:assert/strict'
import type { ControlKey, NewControl } from '../../src/base/queue/controls/controls.ts'
import type { EnqueuedItem, Item, LaneHandler, NewItem } from '../../src/base/queue/queue.ts'
import { on } from '../../src/base/runtime/events.ts'
import type { Database } from '../../src/base/store/database.ts'
import { op, statement } from '../../src/base/store/statement.ts'
import { messageKey } from '../../src/contract/message-key.ts'
import { event, until } from '../support/wait.ts'
import { delivered, fatal, items, type QueueFixture, queueChecks, seqsOf, waitUntilSettled } from './queue.ts'

export const pauseOf = (scope: string, over: Partial<NewControl> = {}): NewControl => ({
  scope,
  kind: 'pause',
  name: '',
  by: 'anna',
  reason: 'the operator migrates',
  ...over,
})
const settingOf = (name: string, value: string, over: Partial<NewControl> = {}): NewControl =>
  pauseOf('1/push', { kind: 'setting', name, value, ...over })
const keyOf = ({ scope, kind, name }: NewControl): ControlKey => ({ scope, kind, name })

/** An item of this activity, and of an action of its own. */
export const itemOf = (id: number, activityId: string): NewItem => ({
  key: messageKey('push', {
    id: String(id),
    userId: '1001',
    activityId,
    actionId: `of ${activityId}`,
    triggerHash: 'h',
  }),
  text: `{"activity":{"id":${id}}}`,
})

const selectWaiting = statement<{ seq: number; due_at: number }>('waiting_rows', {})`
  select w.seq, w.due_at from waiting w order by w.seq`
const readWaiting = (database: Database) => database.read(op(selectWaiting, [[]]))

/** Calls that wait until the test ends them. */
function heldCalls() {
  const calls: { readonly items: readonly Item[]; end(): void }[] = []
  const handle: LaneHandler = async (batch) => {
    const call = Promise.withResolvers<void>()
    calls.push({ items: batch, end: call.resolve })
    await call.promise
    return batch.map(delivered)
  }
  /** Ends the calls, also later ones, until the promise is settled. */
  const endAllUntil = <T>(awaited: Promise<T>): Promise<T> => {
    const ending = setInterval(() => {
      for (const { end } of calls) end()
    }, 1).unref()
    return awaited.finally(() => clearInterval(ending))
  }
  return { calls, handle, endAllUntil }
}

export function laneControlsSuite(fixture: QueueFixture): void {
  const check = queueChecks(fixture)
  /** A test that runs no SQL of its own. */
  const checkOnce = fixture.engine === 'sqlite' ? check : () => {}

  checkOnce('a paused lane starts no call; running calls end, and resume continues', async ({ queue, serve }) => {
    const { calls, handle, endAllUntil } = heldCalls()
    const service = serve(handle, { max: 10, concurrency: 2 })
    const enqueued = await queue.enqueue('1/push', items(50))
    await until(() => calls.length === 2, { awaited: 'two calls run' })
    await queue.setControls([pauseOf('1/push')])
    for (const { end } of calls) end()
    await until(async () => (await service.state()).waiting === 30, { awaited: 'the running calls are settled' })
    const { state, controls } = await service.state()
    assert.equal(state, 'paused')
    assert.partialDeepStrictEqual(controls, [{ kind: 'pause', by: 'anna', reason: 'the operator migrates' }])
    assert.equal(calls.length, 2)
    assert.deepEqual(await queue.readOutcomes([enqueued[49]?.seq as number]), [
      {
        seq: enqueued[49]?.seq,
        lane: '1/push',
        category: 'waiting',
        reason: 'paused',
        error: 'paused by anna: the operator migrates',
      },
    ])
    assert.deepEqual(await queue.endControls([keyOf(pauseOf('1/push'))], 'bert'), [keyOf(pauseOf('1/push'))])
    assert.deepEqual(await queue.endControls([keyOf(pauseOf('1/push'))], 'bert'), [])
    await until(() => calls.length === 4, { awaited: 'more calls' })
    await endAllUntil(waitUntilSettled(queue, enqueued))
  })

  checkOnce('a pause of a brand pauses its lanes, and no lane of another brand', async ({ queue, serve }) => {
    const sent: Record<string, number> = { '1/push': 0, '1/site': 0, '12/push': 0 }
    const services = Object.keys(sent).map((name) =>
      serve(
        async (batch) => {
          sent[name] = (sent[name] as number) + batch.length
          return batch.map(delivered)
        },
        { name },
      ),
    )
    for (const service of services) await until(async () => (await service.state()).owned, { awaited: 'owned' })
    await queue.setControls([pauseOf('1/')])
    const enqueued = []
    for (const name of Object.keys(sent)) enqueued.push(await queue.enqueue(name, items(20)))
    await waitUntilSettled(queue, enqueued[2] as never)
    assert.deepEqual(sent, { '1/push': 0, '1/site': 0, '12/push': 20 })
    // The pause of the lane and the pause of its brand are independent.
    await queue.setControls([pauseOf('1/site')])
    await queue.endControls([keyOf(pauseOf('1/'))], 'anna')
    await waitUntilSettled(queue, enqueued[0] as never)
    assert.deepEqual(sent, { '1/push': 20, '1/site': 0, '12/push': 20 })
    assert.deepEqual(
      (await Promise.all(services.map((service) => service.state()))).map(({ state }) => state),
      ['running', 'paused', 'running'],
    )
  })

  check('a pause survives a restart, and a second pause replaces the first', async ({ queue, serve }) => {
    let sent = 0
    const handle: LaneHandler = async (batch) => {
      sent += batch.length
      return batch.map(delivered)
    }
    const first = serve(handle)
    await queue.setControls([pauseOf('1/push', { expiresAt: Date.now() + 3_600_000 })])
    await queue.setControls([pauseOf('1/push', { by: 'bert', reason: 'still migrating' })])
    await first.stop()
    const paused = event('lane.paused', ({ lane }) => lane === '1/push')
    const second = serve(handle)
    const enqueued = await queue.enqueue('1/push', items(10))
    assert.deepEqual(await paused, { lane: '1/push', by: 'bert', reason: 'still migrating' })
    const { state, controls } = await second.state()
    assert.equal(state, 'paused')
    assert.deepEqual(
      controls.map(({ by, expiresAt }) => [by, expiresAt]),
      [['bert', undefined]],
    )
    assert.equal(sent, 0)
    await queue.endControls([keyOf(pauseOf('1/push'))], 'bert')
    await waitUntilSettled(queue, enqueued)
  })

  checkOnce('a pause that expires ends without a person', async ({ queue, serve }) => {
    const calledAt: number[] = []
    const service = serve(async (batch) => {
      calledAt.push(Date.now())
      return batch.map(delivered)
    })
    const expiresAt = Date.now() + 1_500
    const ended = event('control.ended')
    await queue.setControls([pauseOf('1/push', { expiresAt })])
    const enqueued = await queue.enqueue('1/push', items(10))
    assert.equal((await service.state()).state, 'paused')
    await waitUntilSettled(queue, enqueued)
    assert.ok((calledAt[0] as number) >= expiresAt, 'no call started before the expiry')
    assert.equal((await ended).by, 'expiry')
    assert.deepEqual((await service.state()).controls, [])
    assert.deepEqual(seqsOf(enqueued).length, 10)
  })

  check(
    'the settings of a lane change at once, survive a restart, and return to the configuration',
    async ({ queue, serve }) => {
      const { calls, handle } = heldCalls()
      let modes: string[] = []
      const witness: LaneHandler = (batch, context) => {
        modes.push(context.mode)
        return handle(batch, context)
      }
      const over = { max: 10, concurrency: 1 } as const
      const first = serve(witness, over)
      await queue.enqueue('1/push', items(200))
      await until(() => calls.length === 1, { awaited: 'one call runs' })
      await queue.setControls([settingOf('concurrency', '3'), settingOf('max', '20')])
      await until(() => calls.length === 3, { awaited: 'three calls run' })
      assert.deepEqual(
        calls.map(({ items }) => items.length),
        [10, 20, 20],
      )
      assert.partialDeepStrictEqual((await first.state()).settings, { mode: 'batch', concurrency: 3, max: 20 })
      for (const { end } of calls) end()
      await queue.setControls([settingOf('mode', 'single'), settingOf('concurrency', '2')])
      await until(async () => (await first.state()).inFlight <= 2, { awaited: 'the larger calls have ended' })
      await Promise.all([first.stop(0)])

      calls.length = 0
      modes = []
      const second = serve(witness, over)
      await until(() => calls.length === 2, { awaited: 'two calls after the restart' })
      assert.deepEqual(
        calls.map(({ items }) => items.length),
        [1, 1],
      )
      assert.deepEqual(modes, ['single', 'single'])
      const names = ['mode', 'concurrency', 'max'].map((name) => ({ scope: '1/push', kind: 'setting' as const, name }))
      assert.equal((await queue.endControls(names, 'anna')).length, 3)
      for (const { end } of calls) end()
      await until(() => calls.length === 3, { awaited: 'the next call' })
      assert.equal(calls[2]?.items.length, 10)
      const { settings } = await second.state()
      assert.deepEqual(settings, { mode: 'batch', max: 10, spanMs: 0, concurrency: 1 })
    },
  )

  checkOnce('a rate limits a running lane from now on, and ends by itself', async ({ queue, serve }) => {
    let sent = 0
    serve(
      async (batch) => {
        sent += batch.length
        return batch.map(delivered)
      },
      { max: 1, concurrency: 1 },
    )
    await waitUntilSettled(queue, await queue.enqueue('1/push', items(50)))
    await queue.setControls([settingOf('perSecond', '10', { expiresAt: Date.now() + 1_200 })])
    const startedAt = Date.now()
    const enqueued = await queue.enqueue('1/push', items(100, 51))
    let sentAtEnd = 0
    const stopListening = on('control.ended', () => {
      sentAtEnd = sent
    })
    const ended = event('control.ended')
    await until(() => sent >= 54, { awaited: 'four more items' })
    assert.ok(Date.now() - startedAt >= 250, 'four items at 10 per second take 300 ms')
    await ended
    stopListening()
    assert.ok(sentAtEnd <= 50 + 20, `${sentAtEnd - 50} items in 1.2 s`)
    await waitUntilSettled(queue, enqueued)
  })

  checkOnce('a smaller maximum applies to the parts of a split batch', async ({ queue, serve }) => {
    const sizes: number[] = []
    let smaller: Promise<void> | undefined
    serve(
      async (batch) => {
        sizes.push(batch.length)
        if (batch.length === 16) smaller ??= queue.setControls([settingOf('max', '3')])
        await smaller
        return batch.map((each) => (batch.length > 3 ? fatal('call') : delivered(each)))
      },
      { max: 16, concurrency: 1 },
    )
    await waitUntilSettled(queue, await queue.enqueue('1/push', items(16)))
    assert.ok(
      sizes.slice(1).every((size) => size <= 3),
      String(sizes),
    )
  })

  check(
    'a paused activity is held back while other items flow, and comes in its old order afterwards',
    async ({ database, queue, serve }) => {
      const { calls, handle, endAllUntil } = heldCalls()
      const service = serve(handle, { max: 10, concurrency: 1 })
      // Every second item is of activity 8: 1,200 items of each, which are more than a page.
      const all = Array.from({ length: 2_400 }, (_, i) => itemOf(i + 1, i % 2 ? '8' : '7'))
      const enqueued = await queue.enqueue('1/push', all)
      const paused = seqsOf(enqueued).filter((_, i) => i % 2 === 1)
      await until(() => calls.length === 1, { awaited: 'a call runs' })
      // The items of activity 8 are in the running call, in the buffer and in the database.
      await queue.setControls([pauseOf('1/push', { kind: 'activity', name: '8' })])
      const others = enqueued.filter((_, i) => i % 2 === 0)
      await endAllUntil(waitUntilSettled(queue, others))
      const sentBefore = calls.flatMap(({ items }) => items.map(({ seq }) => seq))
      assert.deepEqual(
        sentBefore.filter((seq) => paused.includes(seq)),
        paused.slice(0, 5),
        'only the items of the call that was running',
      )
      const { state, waiting, controls, heldBack } = await until(
        async () => {
          const state = await service.state()
          return state.heldBack.get(state.controls[0]?.id as number) === 1_195 && state
        },
        { awaited: 'all items of the activity are held back' },
      )
      assert.deepEqual([state, waiting, controls.length, heldBack.size], ['running', 1_195, 1, 1])
      assert.deepEqual(await queue.countItems(), [
        { lane: '1/push', category: 'paused', items: 1_195 },
        { lane: '1/push', category: 'successful', items: 1_205 },
      ])
      const [outcome] = await queue.readOutcomes([paused[9] as number])
      assert.deepEqual([outcome?.category, outcome?.reason], ['waiting', 'paused'])
      assert.ok((await readWaiting(database)).every(({ due_at }) => due_at > 2 ** 52))

      // A restart keeps the pause.
      await service.stop()
      calls.length = 0
      const next = serve(handle, { max: 10, concurrency: 1 })
      const [last] = await queue.enqueue('1/push', [itemOf(2_401, '7')])
      await until(() => calls.length === 1, { awaited: 'the new item is sent' })
      calls[0]?.end()
      await waitUntilSettled(queue, [last as EnqueuedItem])
      assert.equal(calls.length, 1)

      await queue.endControls([{ scope: '1/push', kind: 'activity', name: '8' }], 'anna')
      await endAllUntil(waitUntilSettled(queue, enqueued))
      assert.deepEqual(
        calls.slice(1).flatMap(({ items }) => items.map(({ seq }) => seq)),
        paused.slice(5),
      )
      assert.deepEqual((await next.state()).heldBack, new Map())
      assert.deepEqual(await queue.countItems(), [{ lane: '1/push', category: 'successful', items: 2_401 }])
    },
  )

  checkOnce(
    'items of a running call that must be sent again are held back with their counted attempts',
    async ({ queue, serve }) => {
      const attempts: number[] = []
      const began = Promise.withResolvers<void>()
      const paused = Promise.withResolvers<void>()
      const service = serve(
        async (batch) => {
          if (attempts.length === 0) {
            began.resolve()
            await paused.promise
          }
          return batch.map((each) => {
            if (!each.key.includes('"8"')) return delivered(each)
            attempts.push(each.attempt)
            return each.attempt === 1 ? fatal('message') : delivered(each)
          })
        },
        { concurrency: 1 },
      )
      const enqueued = await queue.enqueue('1/push', [itemOf(1, '8'), itemOf(2, '7'), itemOf(3, '8')])
      await began.promise
      await queue.setControls([pauseOf('1/', { kind: 'action', name: 'of 8', expiresAt: Date.now() + 2_000 })])
      paused.resolve()
      await until(async () => [...(await service.state()).heldBack.values()][0] === 2, {
        awaited: 'both are held back',
      })
      const outcomes = await waitUntilSettled(queue, enqueued)
      assert.deepEqual(attempts, [1, 1, 2, 2])
      assert.deepEqual(
        outcomes.map(({ attempts: count }) => count),
        [2, 1, 2],
      )
    },
  )

  checkOnce('two pauses that match the same item: it is sent when both have ended', async ({ queue, serve }) => {
    let sent = 0
    const service = serve(async (batch) => {
      sent += batch.length
      return batch.map(delivered)
    })
    const pauses = [pauseOf('1/push', { kind: 'activity', name: '8' }), pauseOf('1/', { kind: 'action', name: 'of 8' })]
    await queue.setControls(pauses)
    const enqueued = await queue.enqueue('1/push', [itemOf(1, '8'), itemOf(2, '7')])
    await waitUntilSettled(queue, [enqueued[1] as EnqueuedItem])
    await queue.endControls([keyOf(pauses[0] as NewControl)], 'anna')
    await until(
      async () => {
        const { heldBack } = await service.state()
        return heldBack.size === 1 && [...heldBack.values()][0] === 1
      },
      { awaited: 'the other pause holds the item back' },
    )
    assert.equal(sent, 1)
    await queue.endControls([keyOf(pauses[1] as NewControl)], 'anna')
    await waitUntilSettled(queue, enqueued)
  })
}
