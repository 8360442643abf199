// Finding a message by its identifier, and the oldest to forget them, by the lists of who boarded a flight.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import { messageKey } from '../../src/contract/message-key.ts'
import { countMessages, findMessage } from '../../src/delivery/messages.ts'
import { forgetMessages } from '../../src/delivery/retention.ts'
import { operatorMigrations } from '../../src/operator/create-operator.ts'
import type { Message, Result } from '../../src/providers/provider.ts'
import { firstUuidv7, uuidv7 } from '../../src/runtime/ids.ts'
import { openDatabase } from '../../src/store/open-database.ts'
import { op, statement } from '../../src/store/statement.ts'
import { onEachEngine } from '../support/engines.ts'
import { pathTo } from '../support/send-path.ts'
import { witness } from '../support/sides.ts'

const countLists = statement<{ n: number }>({
  name: 'count_lists',
  rank: 99,
  columns: {},
  text: () => 'select count(*) as n from manifests',
})

async function open(t: TestContext, store: string, answer?: (message: Message) => Result) {
  const database = await openDatabase(store, { migrations: operatorMigrations })
  t.after(() => database.close())
  const provider = witness(answer, 10)
  const path = pathTo(database, provider)
  return {
    database,
    provider,
    send: (messages: readonly Message[]): Promise<readonly Result[]> =>
      path.send(messages, { deadline: Date.now() + 20_000, signal: new AbortController().signal }),
    lists: async () => (await database.read(op(countLists, [[]])))[0]?.n,
    messages: async () =>
      (await database.read(op(countMessages, [[]]))).reduce((sum, { messages }) => sum + messages, 0),
  }
}

/** Made at this time, epoch ms. */
const idAt = (ms: number): string => firstUuidv7(ms).slice(0, -12) + randomBytes(6).toString('hex')

function message(brand: string, id: number): Message {
  const key = JSON.stringify(['push', String(id), '1001', null, null, 'a\nb'])
  const text = JSON.stringify({ id })
  return {
    brand,
    channel: 'push',
    id: String(id),
    userId: '1001',
    key,
    ref: uuidv7(),
    text,
    attempt: 1,
    context: {},
  }
}

onEachEngine('each message is found by its identifier, in its own brand only', async (t, store) => {
  const s = await open(t, store)
  // Several flights of each brand, made in one turn.
  const messages = Array.from({ length: 60 }, (_, n) => message(String((n % 2) + 1), n))
  await Promise.all([s.send(messages.slice(0, 25)), s.send(messages.slice(25, 50)), s.send(messages.slice(50))])
  assert.equal(await s.lists(), 6)
  for (const { brand, key, ref } of messages) {
    assert.partialDeepStrictEqual(await findMessage(s.database, ['1', '2', '3'], ref), { brand, key, state: 1 })
    assert.equal(await findMessage(s.database, [brand === '1' ? '2' : '1'], ref), undefined)
  }
  for (const unknown of [uuidv7(), idAt(Date.now() + 3_600_000), 'nonsense', ''])
    assert.equal(await findMessage(s.database, ['1', '2'], unknown), undefined)
  assert.equal(await findMessage(s.database, [], messages[0]?.ref as string), undefined)
})

onEachEngine('a message that was tried again keeps its first identifier, and is found by it', async (t, store) => {
  const s = await open(t, store)
  const first = message('1', 1)
  await s.send([first])
  const again = [message('1', 2), { ...first, ref: uuidv7() }]
  assert.deepEqual(
    (await s.send(again)).map((result) => result.ref),
    [again[0]?.ref, first.ref],
  )
  assert.deepEqual(
    s.provider.received.map(({ id, attempt }) => [id, attempt]),
    [
      ['1', 1],
      ['2', 1],
    ],
  )
  assert.ok(await findMessage(s.database, ['1'], first.ref))
  assert.equal(await findMessage(s.database, ['1'], again[1]?.ref as string), undefined)
})

/** Identifiers of now on are made later than those of before, by the clock. */
const aMomentLater = async (): Promise<number> => {
  await new Promise((resolve) => setTimeout(resolve, 5))
  const now = Date.now()
  await new Promise((resolve) => setTimeout(resolve, 5))
  return now
}

onEachEngine('a message that was tried again shows the request that brought it last', async (t, store) => {
  const s = await open(t, store, ({ attempt, ref }) =>
    attempt === 1
      ? { category: 'failed', reason: 'rejected', error: 'no', rule: 'no' }
      : { category: 'successful', ref, rule: 'yes' },
  )
  const first = message('1', 1)
  await s.send([message('1', 0), first])
  const claimedAt = (await findMessage(s.database, ['1'], first.ref))?.claimedAt as number
  await aMomentLater()
  const text = '{"id":1,"again":true}'
  await s.send([{ ...first, text, ref: uuidv7() }, message('1', 2)])
  const found = await findMessage(s.database, ['1'], first.ref)
  assert.partialDeepStrictEqual(found, { state: 1, attempt: 2, request: text })
  assert.ok(found && found.claimedAt > claimedAt)
})

onEachEngine('the oldest are forgotten with their lists; what came again since then stays', async (t, store) => {
  const s = await open(t, store)
  const early = Array.from({ length: 15 }, (_, n) => message('1', n))
  const [first] = early as [Message]
  await s.send(early)
  const beforeLate = await aMomentLater()
  await s.send([message('1', 100), { ...first, ref: uuidv7() }])
  while ((await forgetMessages(s.database, '1', beforeLate)) > 0);
  assert.deepEqual([await s.messages(), await s.lists()], [1, 1])
  const beforeAgain = await aMomentLater()
  // It comes once more; the list of its neighbor, which is due now, names it and is older than it.
  const [reborn] = await s.send([{ ...first, ref: uuidv7() }])
  assert.equal(s.provider.received.filter(({ key }) => key === first.key).length, 2)
  while ((await forgetMessages(s.database, '1', beforeAgain)) > 0);
  assert.deepEqual([await s.messages(), await s.lists()], [1, 1])
  assert.ok(await findMessage(s.database, ['1'], reborn?.ref as string))
})

onEachEngine('a message is claimed by its key as it is, whatever is in it', async (t, store) => {
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
    '\u007f',
    '</',
  ]
  const messages = ids.map((id, n) => ({
    ...message('1', n),
    key: messageKey('push', { id, userId: id, activityId: null, actionId: '', triggerHash: id }),
  }))
  await s.send(messages)
  for (const { ref, key } of messages) assert.equal((await findMessage(s.database, ['1'], ref))?.key, key)
  const again = await s.send(messages.map((m) => ({ ...m, ref: uuidv7() })))
  assert.deepEqual(
    again.map(({ ref, rule }) => [ref, rule]),
    messages.map(({ ref }) => [ref, 'row 29: delivered before']),
  )
  assert.equal(s.provider.received.length, messages.length)
})

const putOld = statement({
  name: 'put_old_message',
  rank: 10,
  columns: {
    key: 'text',
    ref: 'text',
    flight: 'text',
    request: 'text',
    start_at: 'bigint',
    attempt: 'bigint',
    state: 'bigint',
  },
  text: (rows) => `
    insert into messages (brand, key, ref, flight, request, start_at, length, claimed_at, attempt, state, uncertain, call, rule)
    select '1', r.key, r.ref, r.flight, r.request, r.start_at, 8, 0, r.attempt, r.state, 0, '', '' from ${rows} r`,
})
const putFlight = statement({
  name: 'put_flight',
  rank: 12,
  columns: { id: 'text', state: 'bigint', held: 'text' },
  text: (rows) => `
    insert into flights (id, owner, state, taken, held, call, rule) select r.id, 'gone', r.state, 0, r.held, '', ''
    from ${rows} r`,
})
const putPiece = (table: string) =>
  statement({
    name: `put_${table}`,
    rank: 13,
    columns: { flight: 'text', first: 'text', refs: 'text' },
    text: (rows) => `insert into ${table} (flight, first, refs) select r.flight, r.first, r.refs from ${rows} r`,
  })
const putRequest = statement({
  name: 'put_request',
  rank: 11,
  columns: { id: 'text', text: 'text' },
  text: (rows) => `insert into requests (id, text) select r.id, r.text from ${rows} r`,
})

/** As it was before this migration. */
async function openBefore(store: string, migration: string) {
  const at = operatorMigrations.findIndex(({ name }) => name === migration)
  return openDatabase(store, { migrations: operatorMigrations.slice(0, at) })
}

for (const [when, since] of [
  ['before there were lists', 'manifests/1'],
  ['when lists had keys only', 'manifests/2'],
] as const)
  onEachEngine(`messages from ${when} are found, repeated and forgotten`, async (t, store) => {
    const older = await openBefore(store, since)
    // Of one flight: a batch of two, one that came alone, and one that was tried before, long ago.
    const [batch, first, alone, second, flight] = [uuidv7(), uuidv7(), uuidv7(), uuidv7(), uuidv7()]
    const longAgo = idAt(Date.now() - 3_600_000)
    const [one, two, three, four] = [1, 2, 3, 4].map((id) => message('1', id)) as [Message, Message, Message, Message]
    await older.commit([
      op(putOld, [
        [four.key, longAgo, flight, alone, 0, 2, 2],
        [two.key, second, flight, batch, 11, 1, 0],
        [three.key, alone, flight, alone, 0, 1, 0],
        [one.key, first, flight, batch, 1, 1, 0],
      ]),
      op(putRequest, [
        [batch, `[${one.text}, ${two.text}]`],
        [alone, three.text],
      ]),
    ])
    await older.close()
    const s = await open(t, store)
    for (const [ref, { key, text }, state, request = text] of [
      [first, one, 1],
      [second, two, 1],
      [alone, three, 1],
      [longAgo, four, 2, three.text],
    ] as const)
      assert.partialDeepStrictEqual(await findMessage(s.database, ['1'], ref), { key, state, request })
    const again = await s.send([one, two, three])
    assert.deepEqual(
      again.map(({ ref }) => ref),
      [first, second, alone],
    )
    assert.equal(s.provider.received.length, 0)
    while ((await forgetMessages(s.database, '1', Date.now() + 60_000)) > 0);
    assert.deepEqual([await s.messages(), await s.lists()], [0, 0])
  })

onEachEngine(
  'what was under way when the store was carried over is known to have left, or arrived',
  async (t, store) => {
    const older = await openBefore(store, 'manifests/2')
    const [arrived, left, waits, departed, held] = [1, 11, 111, 2, 22].map((id) => message('1', id)) as Message[]
    const [pieces, whole] = [uuidv7(), uuidv7()]
    const row = ({ key, ref }: Message, flight: string) => [key, ref, flight, ref, 0, 1, 0] as const
    const refs = (...of: (Message | undefined)[]): string => of.map((m) => m?.ref).join(' ')
    const under = [arrived, left, waits].map((m) => row(m as Message, pieces))
    await older.commit([
      op(putOld, [...under, row(departed as Message, whole), row(held as Message, whole)]),
      op(putFlight, [
        [pieces, 0, ''],
        [whole, 1, refs(held)],
      ]),
      op(putPiece('departures'), [[pieces, arrived?.ref as string, refs(arrived, left)]]),
      op(putPiece('arrivals'), [[pieces, arrived?.ref as string, refs(arrived)]]),
    ])
    await older.close()
    const s = await open(t, store)
    const again = [arrived, left, waits, departed, held] as Message[]
    await s.send(again.map((m) => ({ ...m, ref: uuidv7() })))
    assert.deepEqual(
      s.provider.received.map(({ id, attempt }) => [id, attempt]),
      ['11', '111', '2', '22'].map((id) => [id, 2]),
    )
    const stories = await Promise.all(again.map(({ ref }) => findMessage(s.database, ['1'], ref)))
    assert.deepEqual(
      stories.map((story) => story?.uncertain),
      [0, 1, 0, 1, 0],
    )
  },
)
