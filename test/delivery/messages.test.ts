// The rows of the messages: search, counts, erasure and retention.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { uuidv7 } from '../../src/base/runtime/ids.ts'
import { op, statement } from '../../src/base/store/statement.ts'
import { messageKey } from '../../src/contract/message-key.ts'
import { operatorMigrations } from '../../src/sides/operator/store.ts'
import { createChunks } from '../../src/subjects/delivery/chunks.ts'
import { createClaim } from '../../src/subjects/delivery/claim.ts'
import { countMessages } from '../../src/subjects/delivery/message-counts.ts'
import { findById, findByRef, findByUser } from '../../src/subjects/delivery/messages.ts'
import { eraseTexts, readRequest } from '../../src/subjects/delivery/requests.ts'
import { forgetMessages, forgetRequests } from '../../src/subjects/delivery/retention.ts'
import type { Message, Result } from '../../src/subjects/providers/provider.ts'
import { onEachEngine, onSqlite } from '../support/engines.ts'
import { openTestDatabase } from '../support/open-test-database.ts'
import { pathTo } from '../support/send-path.ts'
import { witness } from '../support/sides.ts'

const countRequests = statement<{ n: number }>('count_requests', {})`select count(*) as n from requests`
const selectTexts = statement<{ text: string }>('select_texts', {})`select text from requests order by id`
const countRows = statement<{ brand: string; name: string; n: number }>('count_rows', {})`
  select brand, state as name, count(*) as n from messages group by 1, 2
  union all select brand, 'repeated', sum(attempt - 1) from messages group by 1 having sum(attempt - 1) > 0
  union all select brand, 'uncertain', sum(uncertain) from messages group by 1 having sum(uncertain) > 0 order by 1, 2`

async function open(t: TestContext, store: string, answer?: (message: Message) => Result | Promise<Result>) {
  const database = await openTestDatabase(t, store, { migrations: operatorMigrations })
  const provider = witness(answer, 10)
  const path = pathTo(database, provider)
  return {
    database,
    provider,
    send: (messages: readonly Message[]) => path.send(messages, { deadline: Date.now() + 20_000 }),
    /** All stored texts, without the spaces of erased ones. */
    texts: async () => (await database.read(op(selectTexts, [[]]))).map(({ text }) => text.replaceAll(/ +/g, '')),
    requests: async () => (await database.read(op(countRequests, [[]])))[0]?.n,
    /** The counts of the triggers, and the counts of the rows. */
    counts: async () => {
      const counted = (await database.read(op(countMessages, [[]]))).filter(({ n }) => n !== 0)
      return [counted, await database.read(op(countRows, [[]]))]
    },
  }
}

function message(brand: string, id: number, userId = '1001'): Message {
  const key = messageKey('push', { id: String(id), userId, activityId: null, actionId: null, triggerHash: 'a\nb' })
  const text = JSON.stringify({ id })
  return { brand, channel: 'push', id: String(id), userId, key, ref: uuidv7(), text, attempt: 1, context: {} }
}

/** These messages as one request. */
function asBatch(messages: readonly Message[]): Message[] {
  const of = {}
  return messages.map((each, position) => ({ ...each, part: { of, position } }))
}

onSqlite('a message is found by its identifier, in its own brand only', async (t, store) => {
  const s = await open(t, store)
  const messages = Array.from({ length: 60 }, (_, n) => message(String((n % 2) + 1), n))
  await Promise.all([s.send(messages.slice(0, 25)), s.send(messages.slice(25, 50)), s.send(messages.slice(50))])
  for (const { brand, key, ref, userId } of messages) {
    const found = await findByRef(s.database, ['1', '2', '3'], ref)
    assert.partialDeepStrictEqual(found, { brand, key, state: 'successful', user_id: userId })
    assert.equal(await findByRef(s.database, [brand === '1' ? '2' : '1'], ref), undefined)
  }
  for (const unknown of [uuidv7(), 'nonsense', ''])
    assert.equal(await findByRef(s.database, ['1', '2'], unknown), undefined)
  assert.equal(await findByRef(s.database, [], messages[0]?.ref as string), undefined)
})

onEachEngine('a search by activity.id finds the messages of both channels, and no others', async (t, store) => {
  const s = await open(t, store)
  const push = message('1', 7)
  const site = { ...message('1', 7), channel: 'site' as const, key: push.key.replace('push', 'site') }
  const others = [message('1', 70), message('1', 77), message('2', 7), message('1', 7, '1002')]
  await s.send([push, site, ...others])
  const refs = (await findById(s.database, ['1'], '7')).map(({ ref }) => ref)
  assert.deepEqual(refs, [push.ref, site.ref, others[3]?.ref])
  assert.equal((await findById(s.database, ['1', '2'], '7')).length, 4)
  assert.deepEqual(await findById(s.database, ['1'], '"'), [])
})

onEachEngine('a search by user returns the messages of one brand, newest first, page by page', async (t, store) => {
  const s = await open(t, store)
  const sent = Array.from({ length: 90 }, (_, n) => message(n % 3 === 2 ? '2' : '1', n, n % 3 === 0 ? 'a' : 'b'))
  await s.send(sent)
  const expected = sent.filter(({ brand, userId }) => brand === '1' && userId === 'a').map(({ ref }) => ref)
  const first = await findByUser(s.database, '1', 'a', { most: 20 })
  const second = await findByUser(s.database, '1', 'a', { before: first.at(-1)?.ref as string, most: 20 })
  assert.deepEqual(
    [...first, ...second].map(({ ref }) => ref),
    expected.reverse(),
  )
  assert.deepEqual(await findByUser(s.database, '1', 'nobody'), [])
})

onEachEngine('a search by user finds messages in every chunk of the index', async (t, store) => {
  const s = await open(t, store)
  const inSeveral = Array.from({ length: 5 }, (_, n) => message('1', n))
  // A restarted process begins a new chunk.
  for (const each of inSeveral) {
    await pathTo(s.database, s.provider).send([each, message('1', Number(each.id) + 100, 'other')], {
      deadline: Date.now() + 20_000,
    })
  }
  assert.equal((await findByUser(s.database, '1', '1001')).length, 5)
})

onSqlite('a message that is sent again keeps its identifier, and shows its last request', async (t, store) => {
  const s = await open(t, store, ({ attempt, ref }) =>
    attempt === 1
      ? { category: 'failed', reason: 'rejected', error: 'no', rule: 'refused' }
      : { category: 'successful', ref, rule: 'accepted' },
  )
  const first = message('1', 1)
  await s.send([message('1', 0), first])
  const failed = await findByRef(s.database, ['1'], first.ref)
  assert.partialDeepStrictEqual(failed, { state: 'failed', attempt: 1, rule: 'refused', error: 'no' })
  const text = '{"id":1,"again":true}'
  const [again] = await s.send([{ ...first, text, ref: uuidv7() }, message('1', 2)])
  assert.equal(again?.ref, first.ref)
  const found = await findByRef(s.database, ['1'], first.ref)
  assert.ok(found)
  assert.partialDeepStrictEqual(found, { state: 'successful', attempt: 2, rule: 'accepted', error: null })
  assert.equal((await readRequest(s.database, found))?.text, text)
})

onSqlite('a repetition of a delivered message is neither sent nor is its request stored', async (t, store) => {
  const s = await open(t, store)
  const batch = asBatch([message('1', 1), message('1', 2)])
  await s.send(batch)
  assert.equal(await s.requests(), 1)
  for (let i = 0; i < 3; i++) await s.send(asBatch(batch.map((m) => ({ ...m, ref: uuidv7() }))))
  assert.deepEqual([await s.requests(), s.provider.received.length], [1, 2])
  // A batch with a new message is stored once.
  await s.send(asBatch([...batch.map((m) => ({ ...m, ref: uuidv7() })), message('1', 3)]))
  assert.deepEqual([await s.requests(), s.provider.received.length], [2, 3])
})

onEachEngine(
  'a repetition beside a new message, and a later attempt, leave no text that no message names',
  async (t, store) => {
    const s = await open(t, store, ({ id, ref, attempt }) =>
      id === '2' && attempt < 4
        ? { category: 'failed', reason: 'rejected', error: 'no', rule: 'refused' }
        : { category: 'successful', ref, rule: 'accepted' },
    )
    const again = (messages: readonly Message[], text?: string) =>
      asBatch(messages.map((m) => ({ ...m, ref: uuidv7(), text: text ?? m.text })))
    const [one, two, three] = [message('1', 1), message('1', 2), message('1', 3)]
    const find = async (ref: string) => {
      const row = await findByRef(s.database, ['1'], ref)
      return row && (await readRequest(s.database, row))?.text
    }
    await s.send(asBatch([one, two]))
    assert.deepEqual(await s.texts(), [one.text + two.text])
    // Another attempt with the same text, beside a delivered message.
    await s.send(again([one, two]))
    assert.deepEqual(await s.texts(), [one.text + two.text])
    // Another attempt beside a new message: only the text of the new one is added.
    await s.send([...again([one, two]), ...asBatch([three])])
    const mixed = asBatch([{ ...two, ref: uuidv7(), text: '{"id":2,"changed":true}' }, message('1', 4)])
    await s.send(mixed)
    assert.deepEqual(await s.texts(), [one.text, three.text, mixed[1]?.text, mixed[0]?.text])
    assert.equal(await find(two.ref), mixed[0]?.text)
    assert.equal(await find(mixed[1]?.ref as string), mixed[1]?.text)
    const users = await findByUser(s.database, '1', '1001')
    await eraseTexts(s.database, users)
    assert.equal((await s.texts()).join(''), '')
  },
)

onEachEngine(
  'of two attempts with different texts at the same time, only the one that is made stores its text',
  async (t, store) => {
    const s = await open(t, store, () => ({ category: 'failed', reason: 'rejected', error: 'no', rule: 'refused' }))
    const first = message('1', 1)
    await s.send([first])
    const attempts = ['one', 'other'].map((text) => ({ ...first, ref: uuidv7(), text }))
    const claim = createClaim({ database: s.database, transactional: false })
    const claims = await Promise.all(attempts.map(async (m) => (await claim([m])).get(m)?.is))
    const made = attempts.filter((_, i) => claims[i] === 'taken over')
    // On a busy machine the second one may begin after the first one: then both are made.
    assert.ok(made.length > 0 && claims.every((is) => is === 'taken over' || is === 'elsewhere'), claims.join())
    const text = (await s.texts()).join('')
    assert.ok(
      made.some((each) => each.text === text),
      text,
    )
  },
)

onEachEngine(
  'each message of a batch has its outcome in its own row, also if only some succeeded',
  async (t, store) => {
    const s = await open(t, store, ({ id, ref }) =>
      Number(id) % 3 === 0
        ? { category: 'failed', reason: 'rejected', error: `no ${id}`, rule: 'refused' }
        : { category: 'successful', ref, rule: 'accepted' },
    )
    const batch = asBatch(Array.from({ length: 20 }, (_, id) => message('1', id)))
    await s.send(batch)
    for (const { id, ref, text } of batch) {
      const found = await findByRef(s.database, ['1'], ref)
      const failed = Number(id) % 3 === 0
      assert.ok(found)
      assert.deepEqual([found.state, found.error], failed ? ['failed', `no ${id}`] : ['successful', null])
      assert.equal((await readRequest(s.database, found))?.text, text)
    }
  },
)

onEachEngine('the counts of each brand are exact after claims, retries, failures and retention', async (t, store) => {
  const s = await open(t, store, ({ id, ref, attempt }) => {
    const rule = 'as its id says'
    if (Number(id) % 4 === 1) return { category: 'failed', reason: 'rejected', error: 'no', rule }
    const away = { category: 'fatal', reason: 'unavailable', blame: 'message', error: 'away', rule } as const
    if (Number(id) % 4 === 2 && attempt < 3) return { ...away, uncertain: true }
    return { category: 'successful', ref, rule }
  })
  const sent = Array.from({ length: 40 }, (_, n) => message(String((n % 2) + 1), n))
  for (let i = 0; i < 3; i++) await s.send(sent.map((m) => ({ ...m, ref: uuidv7() })))
  const [counted, rows] = await s.counts()
  assert.deepEqual(counted, rows)
  assert.ok(rows?.some(({ name }) => name === 'uncertain'))
  assert.equal(await forgetMessages(s.database, Date.now() + 60_000), 40)
  const [left, rowsLeft] = await s.counts()
  assert.deepEqual(left, rowsLeft)
  assert.deepEqual(new Set(left?.map(({ brand }) => brand)), new Set())
})

onEachEngine('retention deletes old messages of every brand, except those with a recent attempt', async (t, store) => {
  const s = await open(t, store, ({ id, attempt, ref }) =>
    id === '0' && attempt === 1
      ? { category: 'failed', reason: 'rejected', error: 'no', rule: 'refused' }
      : { category: 'successful', ref, rule: 'accepted' },
  )
  const early = Array.from({ length: 15 }, (_, n) => message('1', n))
  await s.send([...early, message('2', 0)])
  await new Promise((resolve) => setTimeout(resolve, 5))
  const later = Date.now()
  await new Promise((resolve) => setTimeout(resolve, 5))
  await s.send([{ ...(early[0] as Message), ref: uuidv7() }])
  while ((await forgetMessages(s.database, later)) > 0);
  const found = await Promise.all(early.map(({ ref }) => findByRef(s.database, ['1'], ref)))
  assert.deepEqual(
    found.filter((row) => row !== undefined).map(({ ref }) => ref),
    [early[0]?.ref],
  )
  assert.equal((await findById(s.database, ['2'], '0')).length, 0)
  // PostgreSQL deletes whole days.
  await forgetRequests(s.database, Date.now() + 2 * 86_400_000)
  assert.equal(await s.requests(), 0)
})

onEachEngine('the text of one user is erased from a batch, and no other text', async (t, store) => {
  const s = await open(t, store)
  const batch = asBatch([
    { ...message('1', 1, 'a'), text: '{"body":"für dich 😀"}' },
    { ...message('1', 2, 'b'), text: '{"body":"geheim 😀😀"}' },
    { ...message('1', 3, 'c'), text: '{"body":"für ihn"}' },
  ])
  await s.send(batch)
  assert.equal(await eraseTexts(s.database, await findByUser(s.database, '1', 'b')), 1)
  const texts = await Promise.all(
    batch.map(async ({ ref }) => {
      const row = await findByRef(s.database, ['1'], ref)
      return row && (await readRequest(s.database, row))?.text
    }),
  )
  assert.deepEqual(texts, [batch[0]?.text, ' '.repeat((batch[1] as Message).text.length), batch[2]?.text])
})

onEachEngine('two erasures in the same request at the same time both take effect', async (t, store) => {
  const s = await open(t, store)
  const users = Array.from({ length: 8 }, (_, n) => `u${n}`)
  const context = { tracking: { 'x-fasttrack-id': 'f-1' } }
  const batch = asBatch(users.map((user, n) => ({ ...message('1', n, user), context })))
  await s.send(batch)
  await Promise.all(users.map(async (user) => eraseTexts(s.database, await findByUser(s.database, '1', user))))
  const [row] = await findById(s.database, ['1'], '0')
  assert.ok(row)
  const whole = await readRequest(s.database, { request: row.request, start_at: 0, length: 10_000 })
  assert.match(whole?.text ?? '', /^ +$/)
  assert.equal(whole?.tracking, null)
})

onEachEngine('a key with any characters is stored and found unchanged', async (t, store) => {
  const s = await open(t, store)
  const ids = [
    '"',
    '\\',
    '\n',
    '\u0001',
    '\u2028',
    'ä€😀',
    '%',
    '1e400',
    '018446744073709551616',
    '[],{}',
    "''",
    ' x ',
    '</',
  ]
  const messages = ids.map((id, n) => ({
    ...message('1', n),
    key: messageKey('push', { id, userId: id, activityId: null, actionId: '', triggerHash: id }),
  }))
  await s.send(messages)
  for (const { ref, key } of messages) assert.equal((await findByRef(s.database, ['1'], ref))?.key, key)
  for (const [n, id] of ids.entries())
    assert.deepEqual(
      (await findById(s.database, ['1'], id)).map(({ ref }) => ref),
      [messages[n]?.ref],
    )
  const again = await s.send(messages.map((m) => ({ ...m, ref: uuidv7() })))
  assert.deepEqual(
    again.map(({ ref, rule }) => [ref, rule]),
    messages.map(({ ref }) => [ref, 'row 29: delivered before']),
  )
  assert.equal(s.provider.received.length, messages.length)
})

test('the chunks of each brand have increasing numbers', () => {
  const chunkOf = createChunks(3)
  const numbers = Array.from({ length: 7 }, () => chunkOf('1'))
  assert.equal(new Set(numbers).size, 3)
  assert.deepEqual(
    numbers,
    numbers.toSorted((a, b) => a - b),
  )
  assert.equal(chunkOf('2'), chunkOf('2'))
})
