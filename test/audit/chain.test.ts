// The audit trail: the digests that the database computes are those that an auditor computes from an export, and each kind of
// tampering is found.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { clock } from '../../src/base/runtime/clock.ts'
import type { Database } from '../../src/base/store/database.ts'
import { op, rows, statement } from '../../src/base/store/statement.ts'
import { createChainCheck, lineOf } from '../../src/subjects/audit/chain.ts'
import { auditMigrations, auditOps, forgetAudit, listAudit, readAudit } from '../../src/subjects/audit/table.ts'
import { insertNote, notes } from '../suites/notes.ts'
import { onEachEngine, onSqlite } from '../support/engines.ts'
import { openTestDatabase } from '../support/open-test-database.ts'
import { hourMs, passTime } from '../support/set-clock.ts'

const migrations = [...auditMigrations, notes]

const open = (t: TestContext, store: string): Promise<Database> => openTestDatabase(t, store, { migrations })

async function linesOf(database: Database): Promise<string[]> {
  const lines: string[] = []
  for await (const page of readAudit(database)) lines.push(...page.map((row) => lineOf(row, '0')))
  return lines
}

function check(lines: readonly string[], expected?: readonly string[]) {
  const chain = createChainCheck(expected)
  for (const line of lines) chain.add(line)
  return chain.end()
}

const entry = (count: number, over: object = {}) => ({ act: 'failed.dismiss', by: 'office', count, ...over })
const odd = {
  address: '2001:db8::1',
  brand: '1',
  user: 'Zoë "\n\\',
  reason: 'ünïcode \u0001 "quoted", 😀',
  new: { a: [1] },
}

onEachEngine('entries of concurrent commits of two connections are one chain', async (t, store) => {
  const databases = [await open(t, store), ...(store.startsWith('sqlite') ? [] : [await open(t, store)])]
  const add = (n: number) => databases[n % databases.length]?.commit([...auditOps([entry(n, n % 3 === 0 ? odd : {})])])
  for (let round = 0; round < 3; round++) await Promise.all(Array.from({ length: 20 }, (_, n) => add(round * 20 + n)))
  await databases[0]?.commit(auditOps(Array.from({ length: 150 }, (_, n) => entry(100 + n, n % 2 ? odd : {}))))
  const lines = await linesOf(databases[0] as Database)
  const { chains, problems } = check(lines)
  assert.deepEqual(problems, [])
  assert.deepEqual([chains[0]?.entries, chains[0]?.first, chains[0]?.last], [210, 1, 210])
  assert.deepEqual(
    lines.slice(60).map((line) => JSON.parse(line).count),
    Array.from({ length: 150 }, (_, n) => 100 + n),
  )
  assert.equal(JSON.parse(lines.at(-1) as string).user, odd.user)
  assert.equal(JSON.parse(lines.at(-1) as string).reason, odd.reason)
})

onSqlite('an entry and its act are stored together or not at all', async (t, store) => {
  const database = await open(t, store)
  await database.commit([op(insertNote, [['good']]), ...auditOps([entry(1)])])
  await assert.rejects(database.commit([op(insertNote, [['bad']]), ...auditOps([entry(2)])]))
  await database.commit(auditOps([entry(3)]))
  const lines = await linesOf(database)
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).count),
    [1, 3],
  )
  assert.deepEqual(check(lines).problems, [])
})

onEachEngine('entries are found by user, act, key, brand and time, the newest first', async (t, store) => {
  const database = await open(t, store)
  await database.commit(auditOps([entry(1), entry(2, odd), entry(3, { by: 'crm' }), entry(4, { ...odd, act: 'x.y' })]))
  const found = async (filter: object, before = 1_000, limit = 10) =>
    (await listAudit(database, filter, before, limit)).map(({ serial }) => serial)
  assert.deepEqual(await found({}), [4, 3, 2, 1])
  assert.deepEqual(await found({}, 4, 2), [3, 2])
  assert.deepEqual(await found({ user: odd.user }), [4, 2])
  assert.deepEqual(await found({ user: odd.user, act: 'x.y' }), [4])
  assert.deepEqual(await found({ user: 'nobody' }), [])
  assert.deepEqual(await found({ by: 'crm' }), [3])
  assert.deepEqual(await found({ brand: '1' }), [4, 2])
  assert.deepEqual(await found({ until: 1 }), [])
  assert.deepEqual(await found({ since: 1 }), [4, 3, 2, 1])
})

onSqlite('an entry that was changed, removed or inserted is found', async (t, store) => {
  const database = await open(t, store)
  for (let n = 1; n <= 5; n++) await database.commit(auditOps([entry(n, odd)]))
  const lines = await linesOf(database)
  const [, , third, , last] = lines as [string, string, string, string, string]
  const digest = JSON.parse(last).digest as string
  const edit = (from: string, to: string): string[] =>
    lines.map((line) => (line === third ? line.replace(from, to) : line))
  const serials = (changed: readonly string[]) => check(changed).problems.map(({ serial }) => serial)
  const missing = (changed: readonly string[]) => check(changed, [digest]).missing
  assert.deepEqual([serials(lines), missing(lines)], [[], []])
  assert.deepEqual(serials(edit('"count":3', '"count":4')), [3], 'changed')
  assert.deepEqual(serials(edit('"by":"office"', '"by":"nobody"')), [3], 'changed')
  assert.deepEqual(serials(edit('"user":"Zo', '"user":"Zu')), [3], 'the user was changed')
  assert.deepEqual(serials(edit(/,"user":.*?(?=,"store")/.exec(third)?.[0] as string, '')), [], 'the user was erased')
  assert.deepEqual(serials(lines.filter((line) => line !== third)), [4], 'removed')
  assert.deepEqual(serials(lines.slice(1)), [2], 'removed at the start')
  assert.deepEqual(serials([...lines.slice(0, 3), third, ...lines.slice(3)]), [3], 'inserted')
  assert.deepEqual(serials([...lines.slice(0, 4), '{}', last]), [undefined], 'not an entry')
  // The chain alone does not show that its end is missing.
  assert.deepEqual(serials(lines.slice(0, 4)), [])
  assert.deepEqual(missing(lines.slice(0, 4)), [digest], 'removed at the end')
  await database.commit([op(rewrite, [[5, 'somebody']])])
  assert.deepEqual(serials(await linesOf(database)), [5], 'the last one was changed')
})

const rewrite = statement('rewrite_audit', { serial: 'bigint', by: 'text' })`
  update audit set by = r.by from ${rows} r where audit.serial = r.serial`

onEachEngine('after retention the remaining chain is verified, and a further removal is found', async (t, store) => {
  const database = await open(t, store)
  const add = (n: number) => database.commit(auditOps([entry(n)]))
  await add(1)
  await add(2)
  passTime(t, dayMs)
  await add(3)
  await add(4)
  assert.equal(await forgetAudit(database, clock.now()), 2)
  assert.equal(await forgetAudit(database, clock.now()), 0)
  const lines = await linesOf(database)
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).act),
    ['failed.dismiss', 'failed.dismiss', 'audit.forget'],
  )
  assert.deepEqual(check(lines).problems, [])
  assert.deepEqual(
    check(lines.slice(1)).problems.map(({ serial }) => serial),
    [4],
  )
  // Everything is old: the entry of the deletion remains, so that the serials go on.
  passTime(t, 2 * dayMs)
  assert.equal(await forgetAudit(database, clock.now()), 3)
  await add(5)
  const { chains, problems } = check(await linesOf(database))
  assert.deepEqual([problems, chains[0]?.first, chains[0]?.last], [[], 6, 7])
})

onSqlite('retention between two pages of a reader breaks no chain', async (t, store) => {
  const database = await open(t, store)
  for (let n = 1; n <= 4; n++) await database.commit(auditOps([entry(n)]))
  const before = await linesOf(database)
  passTime(t, dayMs)
  await database.commit(auditOps([entry(5)]))
  assert.equal(await forgetAudit(database, clock.now()), 4)
  const after = await linesOf(database)
  assert.deepEqual(check([...before.slice(0, 2), ...after]).problems, [])
  // Without the entry of the deletion, the gap is a removal.
  assert.deepEqual(
    check([...before.slice(0, 2), ...after.slice(0, 1)]).problems.map(({ problem }) => problem),
    ['the entries 3 to 4 are missing'],
  )
})

const dayMs = 24 * hourMs
