// GET /admin/people/:brand/:user of both sides: everything that is stored about a user.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import test from 'node:test'
import { countPerson, writePerson } from '../../src/base/people/person-data.ts'
import { uuidv7 } from '../../src/base/runtime/ids.ts'
import { op } from '../../src/base/store/statement.ts'
import { messageKey } from '../../src/contract/message-key.ts'
import { operatorPersonParts } from '../../src/sides/operator/people.ts'
import { operatorMigrations } from '../../src/sides/operator/store.ts'
import { claimMessages } from '../../src/subjects/delivery/messages.ts'
import { countTurns } from '../support/count-turns.ts'
import { onSqlite } from '../support/engines.ts'
import { openTestDatabase } from '../support/open-test-database.ts'
import { adminKey, get, temporary } from '../support/sides.ts'
import { other, person, plantOperator, plantPlatform, readCells } from './planted.ts'

const marks = [person.userId, person.text, person.token]

/** Each cell that names the person is in the export. */
function assertComplete(files: readonly string[], exported: string): void {
  const cells = files.flatMap(readCells).filter(({ value }) => marks.some((mark) => value.includes(mark)))
  assert.ok(new Set(cells.map(({ table }) => table)).size > 5, 'the tables have data of the person')
  // A request has texts of other users, too, and a run of settled items is exported with its items.
  const shared = ['requests', 'settled']
  const missing = cells.filter(
    ({ table, value }) => !shared.includes(table) && !exported.includes(JSON.stringify(value)),
  )
  assert.deepEqual(missing, [])
}

test('an operator exports everything that it holds about a user, and nothing about others', async (t) => {
  const file = join(await temporary(t), 'operator.db')
  const { url, stop } = await plantOperator(t, `sqlite:${file}`)
  const answer = await get(`${url}/admin/people/1/${person.userId}`)
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.get('content-disposition'), 'attachment; filename="person-operator-1.json"')
  const { messages, inbox, devices, items } = answer.body
  const texts = messages.map(({ text }: { text: string }) => JSON.parse(text).title)
  assert.deepEqual(
    texts,
    [3, 2, 1, 20].map((id) => `${person.text} ${id}`),
  )
  assert.deepEqual([messages[0].devices.length, messages[0].statuses.length], [1, 1])
  assert.equal(inbox[0].title, `${person.text} 20`)
  assert.equal(devices.length, 3)
  assert.ok(items.length > 0, 'links wait to be published')
  assert.ok(!answer.text.includes(other.text) && !answer.text.includes(other.token))
  assert.equal((await get(`${url}/admin/people/7/${person.userId}`)).status, 403)
  assert.deepEqual((await get(`${url}/admin/people/1/nobody`)).body.messages, [])
  await stop()
  assertComplete([file], answer.text)
})

test('a platform exports everything that it holds about a user, and nothing about others', async (t) => {
  const folder = await temporary(t)
  const { url, stop, messagesOf, report } = await plantPlatform(t, `sqlite:${join(folder, 'platform.db')}`)
  const { ref } = (await messagesOf(person)).find((each: { ref?: string }) => each.ref !== undefined)
  const meta = { activity: { id: 1, brand_id: 1, user_id: person.userId } }
  const reported = await report({
    channel: 'push',
    push_id: ref,
    status: 'sent',
    timestamp: '2026-01-01T10:00:00Z',
    meta,
  })
  assert.equal(reported.status, 200, reported.text)
  const answer = await get(`${url}/admin/people/1/${person.userId}`)
  const { items, attributes, devices } = answer.body
  assert.equal(devices[0].token, person.token)
  assert.deepEqual(
    items.map(({ text, category }: { text: string; category: string }) => [JSON.parse(text).title, category]),
    [
      [`${person.text} 3`, 'waiting'],
      [`${person.text} 2`, 'failed'],
      [`${person.text} 1`, 'successful'],
    ],
  )
  assert.equal(items[2].statuses.length, 1)
  assert.equal(attributes[0].excluded.value, true)
  assert.ok(!answer.text.includes(other.text) && !answer.text.includes(other.token))
  await stop()
  assertComplete([join(folder, 'platform.db'), join(folder, 'platform-crm.db')], answer.text)
})

onSqlite('an export and a count of many messages give other work a turn after each page', async (t, store) => {
  const database = await openTestDatabase(t, store, { migrations: operatorMigrations })
  const pages = 20
  const rows = Array.from({ length: pages * 100 }, (_, i) => [
    ...['1', messageKey('push', { ...parts, id: String(i) }), uuidv7(), person.userId, 'owner', 'request'],
    ...[0, 0, 1, 1],
  ])
  await database.commit([op(claimMessages, rows)])
  const turns = countTurns(t)
  const all = operatorPersonParts.map((part) => ({ database, part }))
  assert.equal((await countPerson(person, all)).messages, pages * 100)
  assert.ok(turns() > pages, `${turns()} turns`)
  const before = turns()
  let text = ''
  for await (const part of writePerson({}, person, all)) text += part
  assert.equal(JSON.parse(text.replace('{,', '{')).messages.length, pages * 100)
  assert.ok(turns() - before > pages, `${turns() - before} turns`)
})

const parts = { userId: person.userId, activityId: '7', actionId: null, triggerHash: 'hash' }

test('an export needs a key of the brand', async (t) => {
  const { url } = await plantOperator(t, 'sqlite::memory:')
  assert.equal((await get(`${url}/admin/people/1/${person.userId}`, 'the-key-of-the-backend')).status, 403)
  assert.equal((await get(`${url}/admin/people/1/${person.userId}`, adminKey.key)).status, 200)
})
