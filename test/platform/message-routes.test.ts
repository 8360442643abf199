// /admin/messages on the platform: search by the operator's identifier, by activity.id and by user, and erasure.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { Message, Result } from '../../src/subjects/providers/provider.ts'
import { onEachEngine } from '../support/engines.ts'
import { erase } from '../support/erase.ts'
import {
  type Answer,
  adminKey,
  element,
  enqueueAt,
  get,
  laneTo,
  post,
  startPlatform,
  untilSettled,
  witness,
} from '../support/sides.ts'
import { until } from '../support/wait.ts'

const reader = {
  name: 'reader of brand 1',
  key: 'the-key-of-a-reader',
  scopes: ['counts', 'read'],
  brands: ['1'],
} as const

const ofOne = { name: 'staff of brand 1', key: 'the-key-of-staff-of-one', scopes: ['people'], brands: ['1'] } as const

/** Accepts each message with its brand and activity.id as the identifier. */
const accept = ({ brand, id }: Message): Result => ({ category: 'successful', ref: `${brand}:${id}`, rule: 'accepted' })

async function start(t: TestContext, answer: (message: Message) => Result = accept, store?: string) {
  const provider = witness(answer)
  const lanes = [laneTo(provider), laneTo(provider, { channel: 'site' }), laneTo(provider, { brand: '2' })]
  const { url } = await startPlatform(t, {
    keys: [adminKey, reader, ofOne],
    lanes,
    ...(store !== undefined && { store }),
  })
  return {
    url,
    enqueue: (records: readonly object[], channel?: string) => enqueueAt(url, records, channel),
    list: async (query: string, key?: string) => (await get(`${url}/admin/messages?${query}`, key)).body.messages,
    waitUntilSettled: () => untilSettled(url),
  }
}

test('a message is found by the identifier that the operator answered, within the brands of the key', async (t) => {
  const { enqueue, list, waitUntilSettled } = await start(t)
  const began = Date.now()
  await enqueue([element({ id: 7 }), element({ id: 8 }), element({ id: 7, brand_id: 2 })])
  await waitUntilSettled()
  const [{ enqueued_at: enqueuedAt, seq, call, ...found }, ...more] = await list('ref=1:7')
  assert.deepEqual(more, [])
  assert.equal(typeof call, 'string')
  assert.ok(Number.isSafeInteger(seq) && enqueuedAt >= began && enqueuedAt <= Date.now())
  assert.deepEqual(found, {
    lane: '1/push',
    key: '["push","7","1001","7","9","hash"]',
    id: '7',
    user_id: '1001',
    outcome: 'successful',
    attempts: 1,
    ref: '1:7',
    rule: 'accepted',
  })
  assert.equal((await list('ref=2:7')).length, 1)
  assert.equal((await list('ref=1:7', reader.key)).length, 1)
  assert.deepEqual(await list('ref=2:7', reader.key), [])
})

test('a message is found by its activity.id, with the reason why it failed or still waits', async (t) => {
  const { enqueue, list } = await start(t, (message) => {
    if (message.channel === 'site') return { category: 'failed', reason: 'rejected', error: 'no', rule: 'refused' }
    if (message.brand === '1') return accept(message)
    return { category: 'fatal', reason: 'unavailable', blame: 'provider', error: 'away', rule: 'outage' }
  })
  await enqueue([element({ id: 7 }), element({ id: 70 }), element({ id: 7, brand_id: 2 })])
  await enqueue([element({ id: 7 })], 'site')
  const shown = await until(
    async () => {
      const rows = (await list('id=7')).map((row: Record<string, unknown>) => [row.lane, row.outcome, row.error])
      return rows.every(([, outcome, error]: unknown[]) => outcome !== 'waiting' || error) ? rows : undefined
    },
    { awaited: 'all messages were tried' },
  )
  assert.deepEqual(shown.toSorted(), [
    ['1/push', 'successful', undefined],
    ['1/site', 'failed', 'no'],
    ['2/push', 'waiting', 'away'],
  ])
  assert.equal((await list('id=7', reader.key)).length, 2)
  assert.deepEqual(await list('id=unknown'), [])
})

onEachEngine(
  'the details of a message have all that is stored about it, within the brands of the key',
  async (t, store) => {
    const refused = new Set<string>()
    const answer = (message: Message): Result => {
      if (message.id !== '8' || refused.has('8')) return accept(message)
      refused.add('8')
      return { category: 'failed', reason: 'rejected', error: 'no', rule: 'refused', ref: 'old' }
    }
    const { url, enqueue, list, waitUntilSettled } = await start(t, answer, store)
    const began = Date.now()
    await enqueue([element({ id: 7 }), element({ id: 8 }), element({ id: 9, brand_id: 2 })])
    await waitUntilSettled()
    const seqOf = async (id: string): Promise<number> => (await list(`id=${id}`))[0].seq
    const details = async (id: string) => (await get(`${url}/admin/messages/${await seqOf(id)}`)).body
    const delivered = await details('7')
    assert.partialDeepStrictEqual(delivered, { outcome: 'successful', history: [], ref: '1:7' })
    assert.deepEqual(delivered.identifiers, [{ ref: '1:7', replayed_at: null }])
    assert.ok(delivered.settled_at >= delivered.enqueued_at && delivered.settled_at >= began)
    assert.deepEqual([delivered.calls.length, delivered.calls[0].id], [1, delivered.call])
    assert.equal(delivered.lane_state, undefined)
    assert.deepEqual((await details('8')).failed, { state: 'pending', decided_by: null, decided_at: null })

    await post(`${url}/admin/failed/replay`, { all: true }, adminKey.key)
    await waitUntilSettled()
    const replayed = await details('8')
    assert.deepEqual(
      replayed.identifiers.map((each: Answer['body']) => [each.ref, each.replayed_at === null]),
      [
        ['old', false],
        ['1:8', true],
      ],
    )
    assert.partialDeepStrictEqual(replayed, { outcome: 'successful', replays: 1, failed: { state: 'replayed' } })
    assert.deepEqual([replayed.calls.length, replayed.history.length], [2, 1])

    await post(`${url}/admin/lanes/pause`, { brand: '1', reason: 'a test' }, adminKey.key)
    await enqueue([element({ id: 10 })])
    const waiting = await details('10')
    assert.deepEqual([waiting.outcome, waiting.settled_at, waiting.lane_state.state], ['waiting', undefined, 'paused'])
    assert.equal((await get(`${url}/admin/messages/${await seqOf('9')}`, reader.key)).status, 404)
    assert.match((await get(`${url}/admin/messages/999`)).body.error, /there is no message 999 here/)
  },
)

test('the messages of a user in one brand are listed newest first, page by page', async (t) => {
  const { url, enqueue, waitUntilSettled } = await start(t)
  await enqueue([100, 101, 102, 103].map((id) => element({ id, user_id: 'a b' })))
  await enqueue([element({ id: 104, user_id: 'a b' })], 'site')
  await enqueue([element({ user_id: 'other' }), element({ user_id: 'a b', brand_id: 2 })])
  await waitUntilSettled()
  const seen: string[] = []
  let before = ''
  for (let pages = 0; pages < 4; pages++) {
    const { body } = await get(`${url}/admin/messages?brand=1&user_id=a%20b&limit=2${before}`, reader.key)
    seen.push(...body.messages.map((each: { id: string }) => each.id))
    if (body.next === undefined) break
    before = `&before=${body.next}`
  }
  assert.deepEqual(seen, ['104', '103', '102', '101', '100'])
})

test('a search with missing or superfluous parameters, or for a forbidden brand, is refused', async (t) => {
  const { url } = await start(t)
  const wrong = [
    ['', 400, /ref, id, or brand and user_id/],
    ['?brand=1', 400, /ref, id, or brand and user_id/],
    ['?ref=a&id=1', 400, /ref, id, or brand and user_id/],
    ['?id=1&before=2', 400, /before/],
    ['?brand=2&user_id=a', 403, /reader of brand 1/],
    ['?brand=x&user_id=a', 400, /brand is "x": give the number of a brand/],
    ['?brand=1&user_id=a&limit=0', 400, /limit is 0: give a whole number from 1 to 1000/],
    ['?brand=1&user_id=a&before=x', 400, /before is "x": give a whole number of 0 or more/],
    ['?ref=a%00', 400, /^ref holds U\+0000/],
    ['?nonsense=1', 400, /nonsense/],
  ] as const
  for (const [query, status, error] of wrong) {
    const answer = await get(`${url}/admin/messages${query}`, reader.key)
    assert.equal(answer.status, status, query)
    assert.match(answer.body.error, error)
  }
})

test("a user's texts are erased from settled messages and Failed Actions, and each message shows it", async (t) => {
  const refuse = (message: Message): Result =>
    message.id === '2' ? { category: 'failed', reason: 'rejected', error: 'no', rule: 'refused' } : accept(message)
  const { url, enqueue, list, waitUntilSettled } = await start(t, refuse)
  await enqueue([element({ id: 1, user_id: 'mary' }), element({ id: 2, user_id: 'mary' }), element({ id: 3 })])
  await enqueue([element({ id: 2, user_id: 'mary', brand_id: 2 })])
  await waitUntilSettled()
  const request = (body: object, key: string = adminKey.key) => post(`${url}/admin/people/erase`, body, key)
  assert.equal((await request({ brand: '1', user_id: 'mary' }, reader.key)).status, 403)
  assert.match((await request({ brand: '2', user_id: 'mary' }, ofOne.key)).body.error, /not for brand 2/)
  for (const [wrong, error] of [
    [{}, 'brand is missing: give the number of a brand'],
    [{ brand: '1' }, 'user_id is missing: give a string of 1 to 255'],
    [{ brand: '1', user_id: 'mary', all: true }, 'all is not known here'],
  ] as const)
    assert.equal((await request(wrong)).body.error.slice(0, error.length), error)
  const { erased, user_digest: digest } = await erase(url, 'mary')
  assert.equal(erased.items, 2)
  assert.deepEqual(await list('brand=1&user_id=mary'), [])
  // The rows stay under digests.
  const shown = await list(`brand=1&user_id=${digest}`)
  assert.deepEqual(
    shown.map((each: Answer['body']) => [
      each.user_id === digest,
      each.id.startsWith('erased:'),
      each.outcome,
      each.erased,
    ]),
    [
      [true, true, 'failed', true],
      [true, true, 'successful', true],
    ],
  )
  assert.equal((await list('id=3'))[0].erased, undefined)
  const { items } = (await get(`${url}/admin/failed`)).body
  assert.deepEqual(
    items.map((each: Answer['body']) => each.lane),
    ['2/push'],
  )
  assert.equal((await post(`${url}/admin/failed/replay`, { lane: '1/push' }, adminKey.key)).body.count, 0)
})
