// Finding a message by its identifier, and the oldest to forget them, by the lists of who boarded a flight.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
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

async function open(t: TestContext, store: string) {
  const database = await openDatabase(store, { migrations: operatorMigrations })
  t.after(() => database.close())
  const provider = witness(undefined, 10)
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

/** Made at this time, epoch ms. uuidv7() never goes back. */
const idAt = (ms: number): string => firstUuidv7(ms).slice(0, -12) + randomBytes(6).toString('hex')

/** @param at when its identifier was made, epoch ms; absent: now */
function message(brand: string, id: number, at?: number): Message {
  const key = JSON.stringify(['push', String(id), '1001', null, null, 'a\nb'])
  const text = JSON.stringify({ id })
  return {
    brand,
    channel: 'push',
    id: String(id),
    userId: '1001',
    key,
    ref: at === undefined ? uuidv7() : idAt(at),
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
  assert.ok(await findMessage(s.database, ['1'], first.ref))
  assert.equal(await findMessage(s.database, ['1'], again[1]?.ref as string), undefined)
})

onEachEngine('the oldest are forgotten with their lists; what came again since then stays', async (t, store) => {
  const s = await open(t, store)
  const [old, since] = [Date.now() + 1_000, Date.now() + 50_000]
  const early = Array.from({ length: 15 }, (_, n) => message('1', n, old))
  await s.send(early)
  const late = [message('1', 100, since), { ...(early[0] as Message), ref: idAt(since) }]
  await s.send(late)
  while ((await forgetMessages(s.database, '1', since - 1_000)) > 0);
  assert.deepEqual([await s.messages(), await s.lists()], [1, 1])
  // It comes once more; the list of its neighbor, which is due now, names it and is older than it.
  const [reborn] = await s.send([{ ...(early[0] as Message), ref: idAt(since + 1_000) }])
  assert.equal(s.provider.received.filter(({ key }) => key === early[0]?.key).length, 2)
  while ((await forgetMessages(s.database, '1', since + 500)) > 0);
  assert.deepEqual([await s.messages(), await s.lists()], [1, 1])
  assert.ok(await findMessage(s.database, ['1'], reborn?.ref as string))
})

onEachEngine('messages from before there were lists are found and forgotten too', async (t, store) => {
  const before = operatorMigrations.filter(({ name }) => !name.startsWith('manifests'))
  const older = await openDatabase(store, { migrations: before })
  const ref = uuidv7()
  const put = statement({
    name: 'put_old_message',
    rank: 10,
    columns: { ref: 'text' },
    text: (rows) => `
      insert into messages (brand, key, ref, flight, request, start_at, length, claimed_at, attempt, state, uncertain, call, rule)
      select '1', '["push","1","1001",null,null,null]', r.ref, '', '', 0, 0, 0, 1, 2, 0, '', 'no' from ${rows} r`,
  })
  await older.commit([op(put, [[ref]])])
  await older.close()
  const s = await open(t, store)
  assert.partialDeepStrictEqual(await findMessage(s.database, ['1'], ref), { state: 2, rule: 'no' })
  while ((await forgetMessages(s.database, '1', Date.now() + 60_000)) > 0);
  assert.deepEqual([await s.messages(), await s.lists()], [0, 0])
})
