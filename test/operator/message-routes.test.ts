// Search for messages at the operator: by activity.id, and by user page by page; and erasure.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test from 'node:test'
import { erase } from '../support/erase.ts'
import { adminKey, element, get, keys, post, startOperator, temporary, witness } from '../support/sides.ts'

const reader = {
  name: 'reader of brand 1',
  key: 'the-key-of-a-reader',
  scopes: ['counts', 'read'],
  brands: ['1'],
} as const

test('a search by activity.id lists messages of the brands of the key', async (t) => {
  const { url } = await startOperator(t, { adminKeys: [adminKey, reader], site: witness() })
  const began = Date.now()
  const of = (brand: number) => element({ id: 7, brand_id: brand })
  const push = (await post(`${url}/channels/push/single`, of(1), keys.both.key)).body.push_id
  const site = (await post(`${url}/channels/site/single`, of(1), keys.both.key)).body.site_notification_id
  const other = (await post(`${url}/channels/push/single`, of(2), keys.both.key)).body.push_id
  await post(`${url}/channels/push/single`, element({ id: 70 }), keys.both.key)
  const { status, body } = await get(`${url}/admin/messages?id=7`)
  assert.equal(status, 200)
  assert.deepEqual(
    body.messages.map((each: { ref: string }) => each.ref),
    [push, site, other],
  )
  const { updated_at: updatedAt, ...first } = body.messages[0]
  assert.ok(updatedAt >= began && updatedAt <= Date.now())
  assert.deepEqual(first, {
    ref: push,
    key: '["push","7","1001","7","9","hash"]',
    brand: '1',
    channel: 'push',
    id: '7',
    user_id: '1001',
    outcome: 'successful',
    attempts: 1,
    uncertain: 0,
    rule: 'accepted',
    error: null,
  })
  const seen = await get(`${url}/admin/messages?id=7`, reader.key)
  assert.deepEqual(
    seen.body.messages.map((each: { ref: string }) => each.ref),
    [push, site],
  )
  assert.deepEqual((await get(`${url}/admin/messages?id=unknown`)).body, { messages: [] })
  assert.deepEqual((await get(`${url}/admin/messages?ref=${push}`)).body.messages, [body.messages[0]])
  assert.deepEqual((await get(`${url}/admin/messages?ref=${other}`, reader.key)).body.messages, [])
})

test('a search by user lists the messages of one brand, newest first, page by page', async (t) => {
  const push = witness(({ id, ref }) =>
    Number(id) % 2
      ? { category: 'failed', reason: 'rejected', error: 'no', rule: 'refused' }
      : { category: 'successful', ref, rule: 'accepted' },
  )
  const { url } = await startOperator(t, { adminKeys: [adminKey, reader], push })
  for (let id = 100; id < 107; id++)
    await post(`${url}/channels/push/single`, element({ id, user_id: 'a b' }), keys.both.key)
  await post(`${url}/channels/push/single`, element({ user_id: 'other' }), keys.both.key)
  await post(`${url}/channels/push/single`, element({ user_id: 'a b', brand_id: 2 }), keys.both.key)
  const seen: { id: string; outcome: string; error: string | null }[] = []
  let before = ''
  for (let pages = 0; pages < 4; pages++) {
    const { body } = await get(`${url}/admin/messages?brand=1&user_id=a%20b&limit=3${before}`, reader.key)
    seen.push(...body.messages)
    if (body.next === undefined) break
    before = `&before=${body.next}`
  }
  assert.deepEqual(
    seen.map(({ id, outcome, error }) => [id, outcome, error]),
    [106, 105, 104, 103, 102, 101, 100].map((id) => [
      String(id),
      id % 2 ? 'failed' : 'successful',
      id % 2 ? 'no' : null,
    ]),
  )
  assert.equal((await get(`${url}/admin/messages?brand=2&user_id=a%20b`)).body.messages.length, 1)
})

test('a search with missing or superfluous parameters, or for a forbidden brand, is refused', async (t) => {
  const { url } = await startOperator(t, { adminKeys: [adminKey, reader] })
  const wrong = [
    ['', 400, /id, or brand and user_id/],
    ['?brand=1', 400, /id, or brand and user_id/],
    ['?user_id=a', 400, /id, or brand and user_id/],
    ['?id=1&brand=1', 400, /brand.* user_id/],
    ['?id=1&limit=2', 400, /limit/],
    ['?brand=01&user_id=a', 400, /brand is "01": give the number of a brand/],
    ['?brand=2&user_id=a', 403, /reader of brand 1/],
    ['?brand=1&user_id=a&limit=0', 400, /limit is 0: give a whole number from 1 to 1000/],
    ['?id=a%00', 400, /^id holds U\+0000/],
    ['?nonsense=1', 400, /nonsense/],
  ] as const
  for (const [query, status, error] of wrong) {
    const answer = await get(`${url}/admin/messages${query}`, reader.key)
    assert.equal(answer.status, status, query)
    assert.match(answer.body.error, error)
  }
})

test("a user's texts are erased from shared requests and the inbox; other users and brands keep theirs", async (t) => {
  const { url } = await startOperator(t, { adminKeys: [adminKey, reader] })
  const of = (user_id: string, brand_id = 1) => element({ user_id, brand_id }, { body: `for ${user_id}` })
  const batch = [of('mary'), of('john'), of('mary'), of('mary', 2)]
  const { body } = await post(`${url}/channels/push/batch`, batch, keys.both.key)
  for (const user of ['mary', 'john']) await post(`${url}/channels/site/single`, of(user), keys.both.key)
  const request = (body: object, key: string = adminKey.key) => post(`${url}/admin/people/erase`, body, key)
  assert.equal((await request({ brand: '1', user_id: 'mary' }, reader.key)).status, 403)
  for (const wrong of [{}, { brand: 1.5, user_id: 'mary' }, { brand: '1', user_id: 'mary', all: true }])
    assert.equal((await request(wrong)).status, 400)
  assert.equal((await request({ brand: '9', user_id: 'mary' })).status, 403)
  assert.partialDeepStrictEqual((await erase(url, 'mary')).erased, { messages: 3, inbox: 2 })
  const texts = await Promise.all(
    body.successful.map(
      async ({ push_id }: { push_id: string }) => (await get(`${url}/admin/messages/${push_id}`)).body.request,
    ),
  )
  assert.deepEqual(
    texts.map((text: string) => text.includes('for ')),
    [false, true, false, true],
  )
  // The rows of the messages stay: a repetition is not sent again.
  const again = await post(`${url}/channels/push/batch`, batch, keys.both.key)
  assert.deepEqual(again.body.successful, body.successful)
  assert.partialDeepStrictEqual((await erase(url, 'nobody')).erased, { messages: 0, inbox: 0 })
})

test('a refused item of a batch leaves no text in the store: malformed, of another brand, or beyond the size', async (t) => {
  const file = join(await temporary(t), 'operator.db')
  const { url, stop } = await startOperator(t, { store: `sqlite:${file}`, limits: { batchMax: 4 } })
  const texts = ['accepted', 'malformed', 'of another brand', 'accepted too', 'beyond the size']
  const batch = texts.map((body, i) => element(i === 1 ? { id: -1 } : i === 2 ? { brand_id: 2 } : {}, { body }))
  const { status, body } = await post(`${url}/channels/push/batch`, batch, keys.one.key)
  assert.equal(status, 200)
  assert.equal(body.successful.length, 2)
  await stop()
  const store = new DatabaseSync(file, { readOnly: true })
  t.after(() => store.close())
  const stored = store.prepare('select text from requests').all() as { text: string }[]
  assert.deepEqual(
    stored.map(({ text }) => texts.filter((each) => text.includes(`"${each}"`))),
    [['accepted', 'accepted too']],
  )
})
