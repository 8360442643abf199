// The order, the time and the repetition of the items that a lane sends. The suite has its SQL, so that one engine is enough.

import assert from 'node:assert/strict'
import { createQueue } from '../../src/base/queue/create-queue.ts'
import { userKey } from '../../src/base/queue/item-keys.ts'
import type { HandledOutcome, Item, Lane, LaneHandler, NewItem } from '../../src/base/queue/queue.ts'
import { isTimeoutError } from '../../src/base/runtime/timeout-error.ts'
import type { Database } from '../../src/base/store/database.ts'
import { StoreUnavailable } from '../../src/base/store/store-unavailable.ts'
import {
  checkInMemory as check,
  delivered,
  fatal,
  item,
  items,
  laneOf,
  rejected,
  seqsOf,
  waitUntilSettled,
} from '../suites/queue.ts'
import { event, until } from '../support/wait.ts'

check(
  '§4.1 rule 3: a full batch is sent at once, an incomplete batch after the time span',
  async ({ queue, serve }) => {
    const sizes: number[] = []
    const handle = async (batch: readonly Item[]) => {
      sizes.push(batch.length)
      return batch.map(delivered)
    }
    serve(handle, { max: 10, spanMs: 60_000 })
    const enqueued = await queue.enqueue('1/push', items(25))
    await waitUntilSettled(queue, enqueued.slice(0, 20))
    assert.deepEqual(sizes, [10, 10])
    assert.equal((await queue.readOutcomes(seqsOf(enqueued.slice(20)))).at(-1)?.category, 'waiting')
    serve(handle, { name: '2/push', max: 10, spanMs: 100 })
    await waitUntilSettled(queue, await queue.enqueue('2/push', items(5)))
    assert.deepEqual(sizes, [10, 10, 5])
  },
)

check('if the store is briefly unavailable, items are settled later and not sent again', async ({ t, database }) => {
  let failingCommits = 3
  const flaky: Database = {
    ...database,
    engine: database.engine,
    commit: ((...args: Parameters<Database['commit']>) =>
      sent > 0 && failingCommits-- > 0
        ? Promise.reject(new StoreUnavailable('briefly unavailable'))
        : database.commit(...args)) as Database['commit'],
  }
  const queue = createQueue(flaky)
  let sent = 0
  const enqueued = await queue.enqueue('1/push', items(50))
  const service = queue.serveLane(laneOf(), async (batch) => {
    sent += batch.length
    return batch.map(delivered)
  })
  service.start()
  t.after(() => service.stop(100))
  await waitUntilSettled(queue, enqueued)
  assert.equal(sent, 50)
  assert.ok(failingCommits <= 0)
})

check(
  'stop() aborts a call that does not end in time; the next owner sends its items again',
  async ({ queue, serve }) => {
    const called = Promise.withResolvers<AbortSignal>()
    const service = serve((_batch, { signal }) => {
      called.resolve(signal)
      return new Promise(() => {})
    })
    const enqueued = await queue.enqueue('1/push', items(5))
    const signal = await called.promise
    await service.stop(1)
    assert.equal(signal.aborted, true)
    serve(async (batch) => batch.map(delivered))
    await waitUntilSettled(queue, enqueued)
  },
)

check(
  'stop() ends in time although the store is unavailable, and no retry of the commit remains',
  async ({ queue, serve, database, t }) => {
    const service = serve(async (batch) => batch.map(delivered))
    const called = event('batch.sent')
    const { commit } = database
    t.after(() => Object.assign(database, { commit }))
    const enqueued = await queue.enqueue('1/push', items(10))
    await called
    let tries = 0
    Object.assign(database, {
      commit: () => {
        tries++
        return Promise.reject(new StoreUnavailable('unavailable'))
      },
    })
    await service.stop(50)
    const after = tries
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    assert.equal(tries, after, 'no more commits are tried')
    assert.equal(enqueued.length, 10)
  },
)

// ── retries ──

check('§7.2.2: a fatal message is retried until it succeeds, and delays no other message', async ({ queue, serve }) => {
  const attempts = new Map<number, number[]>()
  serve(async (batch) =>
    batch.map((each) => {
      attempts.set(each.seq, [...(attempts.get(each.seq) ?? []), each.attempt])
      return each.text.includes('"id":5,') && each.attempt < 4 ? fatal('message') : delivered(each)
    }),
  )
  const enqueued = await queue.enqueue('1/push', items(10))
  const outcomes = await waitUntilSettled(queue, enqueued)
  assert.deepEqual(attempts.get(enqueued[4]?.seq as number), [1, 2, 3, 4])
  assert.deepEqual(
    outcomes.map(({ attempts }) => attempts),
    [1, 1, 1, 1, 4, 1, 1, 1, 1, 1],
  )
})

check(
  'a handler that throws or returns too few or invalid outcomes causes a retry, and the lane continues',
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
    const [outcome] = await waitUntilSettled(queue, await queue.enqueue('1/push', items(1)))
    assert.equal(outcome?.attempts, 4)
  },
)

check('a handler that ignores its deadline loses its slot', async ({ queue, serve }) => {
  let calls = 0
  serve((batch) => (++calls === 1 ? new Promise(() => {}) : Promise.resolve(batch.map(delivered))), {
    concurrency: 1,
    timeoutMs: 20,
  })
  const [outcome] = await waitUntilSettled(queue, await queue.enqueue('1/push', items(1)))
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
              resolve(batch.map(() => fatal('provider')))
            })
          })
        : Promise.resolve(batch.map(delivered)),
    { concurrency: 1, timeoutMs: 20 },
  )
  await waitUntilSettled(queue, await queue.enqueue('1/push', items(1)))
  assert.ok(isTimeoutError(reason), String(reason))
})

check('row 56: an item that expires between two attempts is not sent again', async ({ queue, serve }) => {
  let attempts = 0
  const expiresAt = Date.now() + 400
  serve(async (batch) => {
    attempts++
    return batch.map(() => fatal('message', { retryAfterMs: 500 }))
  })
  const [outcome] = await waitUntilSettled(queue, await queue.enqueue('1/push', [{ ...item(1), expiresAt }]))
  assert.deepEqual([outcome?.category, outcome?.reason, outcome?.attempts], ['failed', 'expired', attempts])
})

// ── blame ──

check('a refused batch is halved until the guilty message is alone', async ({ queue, serve }) => {
  const sizes: number[] = []
  let refused = 0
  serve(
    async (batch) => {
      sizes.push(batch.length)
      const guilty = batch.some(({ text }) => text.includes('"id":70,'))
      if (!guilty || refused > 20) return batch.map(delivered)
      refused++
      return batch.map(() => fatal('call'))
    },
    { max: 64, concurrency: 1 },
  )
  const enqueued = await queue.enqueue('1/push', items(128))
  const outcomes = await waitUntilSettled(queue, enqueued)
  assert.ok(outcomes.every(({ category }) => category === 'successful'))
  assert.deepEqual(
    outcomes.filter(({ attempts }) => attempts !== 1).map(({ seq }) => seq),
    [enqueued[69]?.seq],
  )
  // 64 and 64, then both halves of each refused batch, then the guilty message alone until it succeeds.
  assert.deepEqual(sizes.slice(0, 4), [64, 64, 32, 16])
  assert.equal(sizes.filter((size) => size > 1).length, 2 + 2 * 5)
})

check(
  'an outage holds the lane: no batch is split, no attempt is counted, and one probe runs at a time',
  async ({ queue, serve }) => {
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
        return batch.map((each) => (up ? delivered(each) : fatal('provider')))
      },
      { max: 50, concurrency: 1 },
    )
    const enqueued = await queue.enqueue('1/push', items(100))
    assert.equal((await held).reason, 'the provider is to blame')
    await until(() => sizes.length > 8, { awaited: 'probes' })
    const state = await service.state()
    assert.deepEqual([state.state, state.waiting, state.lastError], ['held', 100, 'the provider is to blame'])
    assert.deepEqual(sizes.slice(0, 8), [50, 1, 1, 1, 1, 1, 1, 1])
    // Each probe is another message, so that a single message cannot hold the lane.
    assert.equal(new Set(probes.slice(0, 6)).size, Math.min(6, probes.length))
    const released = event('lane.released')
    up = true
    await released
    const outcomes = await waitUntilSettled(queue, enqueued)
    assert.ok(outcomes.every(({ attempts }) => attempts === 1))
    assert.equal((await service.state()).state, 'running')
  },
)

check(
  'a provider that refuses every call is unavailable: the search for a guilty message is not repeated',
  async ({ queue, serve }) => {
    const sizes: number[] = []
    const held = event('lane.held')
    serve(
      async (batch) => {
        sizes.push(batch.length)
        return batch.map(() => fatal('call'))
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

check('a provider that refuses five single messages in a row is unavailable', async ({ queue, serve }) => {
  let calls = 0
  const held = event('lane.held')
  const service = serve(
    async (batch) => {
      calls++
      return batch.map(() => fatal('call'))
    },
    { max: 1, concurrency: 1, retry: { firstMs: 60_000, mostMs: 60_000 } },
  )
  await queue.enqueue('1/push', items(100))
  await held
  assert.equal(calls, 5)
  assert.equal((await service.state()).state, 'held')
})

check('a message that makes the provider fail is found although every probe succeeds', async ({ queue, serve }) => {
  serve(
    async (batch) =>
      batch.map((each) =>
        batch.some(({ text }) => text.includes('"id":20,')) && each.attempt < 2 ? fatal('provider') : delivered(each),
      ),
    { max: 32, concurrency: 1 },
  )
  const outcomes = await waitUntilSettled(queue, await queue.enqueue('1/push', items(32)))
  assert.deepEqual(outcomes.filter(({ attempts }) => attempts !== 1).length, 1)
})

check(
  'many refusals in a row pause the lane until a person resumes it; the refused messages can be replayed',
  async ({ queue, serve }) => {
    let corrected = false
    let sent = 0
    const refusal: HandledOutcome = {
      category: 'failed',
      reason: 'misconfigured',
      error: 'the operator answered 401',
      rule: '§7.1 401',
    }
    const paused = event('lane.paused')
    const over: Partial<Lane> = { max: 1, concurrency: 1, refusals: 10 }
    const handle: LaneHandler = async (batch) => {
      sent++
      return batch.map((each) => (corrected ? delivered(each) : refusal))
    }
    const service = serve(handle, over)
    const enqueued = await queue.enqueue('1/push', items(30))
    assert.match((await paused).reason, /10 messages in a row were refused .*401/)
    await until(async () => (await service.state()).waiting === 20, { awaited: 'the answered items are settled' })
    assert.equal((await service.state()).state, 'paused')
    // A restart does not end the pause.
    await service.stop()
    const next = serve(handle, over)
    await until(async () => (await next.state()).owned, { awaited: 'the lane is owned again' })
    assert.equal((await next.state()).state, 'paused')
    assert.equal(sent, 10)

    corrected = true
    const pause = { scope: '1/push', kind: 'pause', name: '' } as const
    assert.deepEqual(await queue.endControls([pause], 'anna'), [pause])
    await waitUntilSettled(queue, enqueued)
    assert.equal((await queue.decideFailed({ lane: '1/push', state: 'pending' }, 'replay')).count, 10)
    await until(
      async () => (await queue.readOutcomes(seqsOf(enqueued))).every(({ category }) => category === 'successful'),
      {
        awaited: 'all items are delivered',
      },
    )
    assert.equal(sent, 40)
  },
)

check('a slow lane and a failing lane do not slow down other lanes', async ({ queue, serve }) => {
  serve(() => new Promise(() => {}), { name: '1/site' })
  serve(() => Promise.reject(new Error('failing')), { name: '2/site' })
  serve(async (batch) => batch.map(delivered))
  await queue.enqueue('1/site', items(1_000))
  await queue.enqueue('2/site', items(200))
  await waitUntilSettled(queue, await queue.enqueue('1/push', items(200)))
})

// ── order ──

check(
  'an ordered lane runs one call at a time, and a fatal item holds the items behind it',
  async ({ queue, serve }) => {
    const got: number[] = []
    let running = 0
    serve(
      async (batch) => {
        assert.equal(++running, 1)
        await new Promise(setImmediate)
        running--
        // The items behind the first fatal item are fatal too.
        const stuck = batch.findIndex(({ seq, attempt }) => seq % 7 === 0 && attempt < 3)
        return batch.map((each, i) => {
          if (stuck !== -1 && i >= stuck) return fatal('message')
          got.push(each.seq)
          return delivered(each)
        })
      },
      { order: 'lane', max: 5, concurrency: 4 },
    )
    const enqueued = await queue.enqueue('1/push', items(60))
    await waitUntilSettled(queue, enqueued)
    assert.deepEqual(got, seqsOf(enqueued))
  },
)

check('an ordered lane finds a guilty message with smaller and smaller batches, in order', async ({ queue, serve }) => {
  const got: number[] = []
  let refused = 0
  serve(
    async (batch) => {
      if (batch.some(({ text }) => text.includes('"id":9,')) && refused++ < 6) return batch.map(() => fatal('call'))
      got.push(...batch.map(({ seq }) => seq))
      return batch.map(delivered)
    },
    { order: 'lane', max: 8 },
  )
  const enqueued = await queue.enqueue('1/push', items(20))
  await waitUntilSettled(queue, enqueued)
  assert.deepEqual(got, seqsOf(enqueued))
})

/** An item of a lane that is ordered by user. */
const itemOf = (n: number, userId: string): NewItem => ({
  key: userKey('link', userId, String(n)),
  text: `${userId} ${n}`,
})
const byUser = { order: 'user', max: 1, concurrency: 4 } as const

check('ordered by user: a fatal item holds only the later items of its user', async ({ queue, serve }) => {
  const got: string[] = []
  let refusals = 0
  const others = Promise.withResolvers<void>()
  const triedAgain = Promise.withResolvers<void>()
  serve(
    async ([only]) => {
      const { text } = only as Item
      if (text === 'eve 4') await triedAgain.promise
      // Fatal until all items of the other users are delivered.
      if (text === 'ann 0' && got.length < 10) {
        if (++refusals === 2) triedAgain.resolve()
        return [fatal('message')]
      }
      got.push(text)
      if (got.length === 10) others.resolve()
      return [delivered(only as Item)]
    },
    { ...byUser, retry: { firstMs: 1, mostMs: 2 } },
  )
  const enqueued = await queue.enqueue(
    '1/push',
    Array.from({ length: 5 }, (_, n) => ['ann', 'bob', 'eve'].map((user) => itemOf(n, user))).flat(),
  )
  await others.promise
  await waitUntilSettled(queue, enqueued)
  assert.ok(got.slice(0, 10).every((text) => !text.startsWith('ann')))
  for (const user of ['ann', 'bob', 'eve'])
    assert.deepEqual(
      got.filter((text) => text.startsWith(user)),
      Array.from({ length: 5 }, (_, n) => `${user} ${n}`),
    )
})

check('ordered by user: a user is never in two calls, however the calls end', async ({ queue, serve }) => {
  const got = new Map<string, number[]>()
  const usersInCalls = new Set<string>()
  let call = 0
  serve(
    async (batch) => {
      const users = new Set(batch.map(({ text }) => text.split(' ')[0] as string))
      for (const user of users) assert.ok(!usersInCalls.has(user), `${user} is in two calls`)
      for (const user of users) usersInCalls.add(user)
      await new Promise((resolve) => setTimeout(resolve, call % 3))
      for (const user of users) usersInCalls.delete(user)
      const ending = ++call % 7
      if (ending === 2) return batch.map(() => fatal('provider'))
      if (ending === 4) return batch.map(() => fatal('call'))
      if (ending === 5) throw new Error('the handler failed')
      const from = ending === 6 ? Math.floor(batch.length / 2) : batch.length
      return batch.map((each, i) => {
        if (i >= from) return fatal('message')
        const [user, n] = each.text.split(' ') as [string, string]
        got.set(user, [...(got.get(user) ?? []), Number(n)])
        return Number(n) % 5 === 4 ? rejected : delivered(each)
      })
    },
    { order: 'user', max: 8, concurrency: 3, retry: { firstMs: 1, mostMs: 3 } },
  )
  const enqueued = await queue.enqueue(
    '1/push',
    Array.from({ length: 300 }, (_, i) => itemOf(Math.floor(i / 10), `u${i % 10}`)),
  )
  await waitUntilSettled(queue, enqueued, 40_000)
  assert.equal(got.size, 10)
  for (const [user, numbers] of got)
    assert.deepEqual(
      numbers,
      Array.from({ length: 30 }, (_, n) => n),
      user,
    )
  const { items: failed } = await queue.listFailed({ user: 'u3' }, { after: 0, limit: 100 })
  assert.ok(failed.length > 0 && failed.every(({ user }) => user === 'u3'))
})

check(
  'ordered by user: a fatal probe goes to the end of the line with all items of its user',
  async ({ queue, serve }) => {
    const got: string[] = []
    serve(
      async ([only]) => {
        const { text } = only as Item
        if (text.startsWith('ann') && got.length < 4) return [fatal('provider')]
        got.push(text)
        return [delivered(only as Item)]
      },
      { ...byUser, concurrency: 1, retry: { firstMs: 1, mostMs: 2 } },
    )
    const enqueued = await queue.enqueue(
      '1/push',
      ['ann', 'ann', 'bob', 'ann', 'eve', 'bob', 'eve'].map((user, n) => itemOf(n, user)),
    )
    await waitUntilSettled(queue, enqueued)
    assert.deepEqual(got.slice(4), ['ann 0', 'ann 1', 'ann 3'])
    assert.deepEqual(
      got.filter((text) => text.startsWith('bob')),
      ['bob 2', 'bob 5'],
    )
  },
)
