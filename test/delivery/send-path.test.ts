// The send path over HTTP: claim → suppress → deliver → settle → answer.

import assert from 'node:assert/strict'
import { functionSource } from '../../src/subjects/attributes/function.ts'
import { onEachEngine, onSqlite } from '../support/engines.ts'
import { adminKey, element, elements, get, keys, post, startOperator, witness } from '../support/sides.ts'

const single = '/channels/push/single'
const batch = '/channels/push/batch'

/** A provider that gets a `called` message at once, and answers after `release()`. */
function gate() {
  const [called, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const push = witness(async ({ ref }) => {
    called.resolve()
    await released.promise
    return { category: 'successful', ref, rule: 'accepted' }
  })
  return { push, called: called.promise, release: () => released.resolve() }
}

onEachEngine(
  'a delivered message is never delivered again; a repetition, single or batch, is answered with the first identifier',
  async (t, store) => {
    const push = witness()
    const { url } = await startOperator(t, { store, push })
    const one = element()
    const first = await post(url + single, one)
    assert.match(first.body.push_id, /^[0-9a-f]{8}-[0-9a-f]{4}-7/)
    assert.equal((await post(url + single, one)).body.push_id, first.body.push_id)
    assert.equal((await post(url + batch, [one])).body.successful[0].push_id, first.body.push_id)
    assert.equal(push.received.length, 1)
  },
)

onSqlite('two simultaneous requests with one message make one call, and both get its result', async (t, store) => {
  const { push, called, release } = gate()
  const { url } = await startOperator(t, { store, push })
  const one = element()
  const both = [post(url + single, one), post(url + batch, [one])]
  await called
  release()
  const [a, b] = await Promise.all(both)
  assert.equal(a?.body.push_id, b?.body.successful[0].push_id)
  assert.equal(push.received.length, 1)
})

onSqlite('a failed or fatal message that is repeated is sent again with the same identifier', async (t, store) => {
  const outcomes = [
    { category: 'fatal', reason: 'unavailable', blame: 'message', error: 'not now', rule: 'test' },
    { category: 'failed', reason: 'rejected', error: 'no', rule: 'test' },
  ] as const
  const push = witness((m) => outcomes[m.attempt - 1] ?? { category: 'successful', ref: m.ref, rule: 'accepted' })
  const { url } = await startOperator(t, { store, push })
  const one = element()
  assert.equal((await post(url + single, one)).status, 503)
  assert.equal((await post(url + single, one)).status, 422)
  const last = await post(url + single, one)
  assert.equal(last.status, 200)
  assert.deepEqual(
    push.received.map((m) => m.attempt),
    [1, 2, 3],
  )
  assert.deepEqual(new Set(push.received.map((m) => m.ref)), new Set([last.body.push_id]))
  const details = (await get(`${url}/admin/messages/${last.body.push_id}`)).body
  assert.equal(details.outcome, 'successful')
  assert.equal(details.attempts, 3)
  assert.deepEqual(
    details.refusals.map((r: { category: string }) => r.category),
    ['fatal', 'failed'],
  )
  assert.equal(details.request, JSON.stringify(one))
  assert.ok(details.calls.length > 0)
})

for (const [how, invalidItem, onEngines] of [
  ['stored once for all messages', '{"activity":{"id":-1}}', onSqlite],
  ['split and stored for each message if it is not UTF-8', '"\xff"', onEachEngine],
] as const) {
  onEngines(`each message of a batch is shown unchanged; the body is ${how}`, async (t, store) => {
    const { url } = await startOperator(t, {
      store,
      push: witness(undefined, 2), // several calls
      attributes: functionSource(['blocked'], () => ['blocked']),
    })
    const texts = [
      element({}, { title: 'Grüße 👋🏽' }),
      element({ user_id: 'blocked' }),
      element({ brand_id: 2 }, { title: '😀' }),
      element(),
    ].map((each) => JSON.stringify(each, undefined, 1))
    const body = Buffer.concat([Buffer.from(`[${texts.join(' ,\n')},`), Buffer.from(`${invalidItem}]`, 'latin1')])
    const { body: answer } = await post(url + batch, body)
    const items: { id: number; push_id?: string }[] = [...answer.successful, ...answer.failed]
    const shown = items.filter((item) => item.push_id).map((item) => get(`${url}/admin/messages/${item.push_id}`))
    const requests = (await Promise.all(shown)).map(({ body }) => body.request)
    assert.deepEqual(requests.sort(), texts.sort())
  })
}

onSqlite(
  'each message of a batch of two brands gets its own outcome, and the identifiers of a brand follow one another',
  async (t, store) => {
    const refused = new Set<string>()
    const push = witness((m) =>
      refused.has(m.id)
        ? { category: 'failed', reason: 'rejected', error: `no ${m.id}`, rule: 'test' }
        : { category: 'successful', ref: m.ref, rule: 'accepted' },
    )
    const { url } = await startOperator(t, { store, push })
    const items = Array.from({ length: 12 }, (_, n) => element({ brand_id: (n % 3) + 1, user_id: `user ${n}` }))
    const ids = items.map(({ activity }) => activity.id as number)
    refused.add(String(ids[3])).add(String(ids[7]))
    const { body } = await post(url + batch, items, keys.both.key)
    const idsOf = (list: readonly { id: number }[]): number[] => list.map(({ id }) => id)
    // The key is not for brand 3.
    assert.deepEqual(
      idsOf(body.fatal),
      ids.filter((_, n) => n % 3 === 2),
    )
    assert.deepEqual(
      body.failed.map(({ id, error }: { id: number; error: string }) => [id, error]),
      [ids[3], ids[7]].map((id) => [id, `no ${id}`]),
    )
    assert.deepEqual(
      idsOf(body.successful),
      ids.filter((id, n) => n % 3 < 2 && !refused.has(String(id))),
    )
    const byRef = push.received.toSorted((a, b) => (a.ref < b.ref ? -1 : 1))
    assert.equal(byRef.map(({ brand }) => brand).join(''), '11112222')
    for (const { id, userId, text } of byRef) assert.equal(JSON.parse(text).activity.user_id, userId, id)
    for (const { id, push_id } of body.successful)
      assert.equal(push.received.find((m) => m.id === String(id))?.ref, push_id)
  },
)

onSqlite(
  'messages to users who are excluded, blocked, inactive or without consent are failed with 422, in this brand only',
  async (t, store) => {
    const usersOf: Record<string, string[]> = {
      'blocked 1': ['blocked'],
      'excluded 1': ['excluded'],
      'active 1': ['blocked', 'excluded', 'silent', 'fine'],
      'active 2': ['excluded', 'fine'],
      'consent_push_notification 1': ['blocked', 'excluded', 'asleep', 'fine'],
      'consent_push_notification 2': ['excluded', 'fine'],
    }
    const push = witness()
    const { url } = await startOperator(t, {
      store,
      push,
      suppression: { fields: ['blocked', 'excluded', 'active', 'consent_push_notification'] },
      attributes: functionSource(
        ['blocked', 'excluded', 'active', 'consent_push_notification'],
        (brand, users, field) => users.filter((user) => usersOf[`${field} ${brand}`]?.includes(user)),
      ),
    })
    const reasons: Record<string, RegExp> = {
      blocked: /blocked/,
      excluded: /excluded/,
      asleep: /not active/,
      silent: /consent_push_notification/,
    }
    for (const [user_id, reason] of Object.entries(reasons)) {
      const answer = await post(url + single, element({ user_id }))
      assert.equal(answer.status, 422, user_id)
      assert.match(answer.body.error, reason)
    }
    assert.equal(push.received.length, 0)
    assert.equal((await post(url + single, element({ user_id: 'fine' }))).status, 200)
    assert.equal((await post(url + single, element({ user_id: 'excluded', brand_id: 2 }))).status, 200)
    const mixed = await post(url + batch, [element({ user_id: 'excluded' }), element({ user_id: 'fine' })])
    assert.equal(mixed.body.failed.length, 1)
    assert.equal(mixed.body.successful.length, 1)
  },
)

onSqlite(
  'a source that throws or returns malformed data makes messages fatal, and nothing is sent until it answers',
  async (t, store) => {
    let behavior = 'throws'
    const push = witness()
    const { url } = await startOperator(t, {
      store,
      push,
      attributes: {
        name: 'unreliable',
        fields: ['blocked'],
        async among() {
          if (behavior === 'throws') throw new Error('the database is away')
          if (behavior === 'malformed') return undefined as never
          return new Map([['blocked', new Set<string>()]])
        },
      },
    })
    const one = element()
    for (behavior of ['throws', 'malformed']) {
      const answer = await post(url + single, one)
      assert.equal(answer.status, 503, behavior)
      assert.match(answer.body.error, /attribute source unreliable/)
    }
    assert.equal(push.received.length, 0)
    behavior = 'works'
    assert.equal((await post(url + single, one)).status, 200)
    assert.equal(push.received.length, 1)
  },
)

onSqlite(
  'a request is answered within its time budget; sending goes on, and the next request gets the result',
  async (t, store) => {
    const { promise, resolve: release } = Promise.withResolvers<void>()
    const push = witness(async (m) => {
      if (m.userId === 'slow') await promise
      return { category: 'successful', ref: m.ref, rule: 'accepted' }
    }, 1)
    const { url } = await startOperator(t, { store, push, limits: { answerBudgetMs: 300 } })
    const slow = element({ user_id: 'slow' })
    const answer = await post(url + batch, [slow, element({ user_id: 'quick' })])
    assert.equal(answer.body.successful.length, 1)
    assert.equal(answer.body.fatal.length, 1)
    assert.equal((await post(url + single, slow)).status, 503)
    release()
    assert.equal((await post(url + single, slow)).status, 200)
    assert.equal(push.received.filter((m) => m.userId === 'slow').length, 1)
  },
)

onSqlite('messages beyond the limit in progress are fatal, and the others are delivered', async (t, store) => {
  const { push, called, release } = gate()
  const { url } = await startOperator(t, { store, push, limits: { inProgress: 3 } })
  const answered = post(url + batch, elements(5))
  await called
  const refused = await post(url + single, element())
  assert.equal(refused.status, 503)
  assert.ok(refused.headers.get('retry-after'))
  release()
  const answer = await answered
  assert.equal(answer.body.successful.length, 3)
  assert.equal(answer.body.fatal.length, 2)
})

onSqlite('a stop finishes the messages in progress and accepts no new ones', async (t, store) => {
  const { push, called, release } = gate()
  const { url, stop } = await startOperator(t, { store, push })
  const answered = post(url + single, element())
  await called
  const stopped = stop()
  assert.equal((await post(url + single, element())).status, 503)
  release()
  assert.equal((await answered).status, 200)
  await stopped
})

onSqlite('the tracking headers of a request are stored with its messages', async (t, store) => {
  const { url } = await startOperator(t, { store })
  const answer = await post(url + single, element(), keys.one.key, {
    'X-Fasttrack-Id': 'track-1',
    'X-Fasttrack-Triggerhash': 'h',
  })
  const details = (await get(`${url}/admin/messages/${answer.body.push_id}`)).body
  assert.deepEqual(details.tracking, { 'x-fasttrack-id': 'track-1', 'x-fasttrack-triggerhash': 'h' })
})

onSqlite('admin routes require a key with the right scope, and show only its brands', async (t, store) => {
  const reader = { name: 'reader', key: 'the-key-of-a-reader', scopes: ['counts', 'read'], brands: ['2'] } as const
  const { url } = await startOperator(t, { store, adminKeys: [adminKey, reader] })
  const { push_id } = (await post(url + single, element())).body
  assert.equal((await get(`${url}/admin/summary`, 'wrong')).status, 401)
  assert.equal((await post(`${url}/admin/subscriber-tokens`, { brand: '2', user_id: '1001' }, reader.key)).status, 403)
  assert.equal((await get(`${url}/admin/messages/${push_id}`, reader.key)).status, 404)
  assert.equal((await get(`${url}/admin/summary`, reader.key)).body.successful, 0)
  assert.equal((await get(`${url}/admin/summary`)).body.successful, 1)
})
