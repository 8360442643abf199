import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import test from 'node:test'
import { pages } from '../../src/attributes/sqlite-pages.ts'

const greatest = 2n ** 63n - 1n

/** A table of players. In its ranges of keys all, none or few are blocked, and the gaps between keys differ. */
function players(): DatabaseSync {
  const db = new DatabaseSync(':memory:')
  db.exec('create table players (n integer primary key, user_id, brand text, blocked integer)')
  const insert = db.prepare('insert into players values (?, ?, ?, ?)')
  insert.setReadBigInts(true) // its result has the last key
  const insertRange = (from: bigint, count: number, every: number, gap = 1n): void => {
    for (let i = 0; i < count; i++) {
      const n = from + BigInt(i) * gap
      insert.run(n, `u${n}`, i % 5 === 0 ? '2' : '1', i % every === 0 ? 1 : 0)
    }
  }
  db.exec('begin')
  insertRange(-(2n ** 63n), 3_000, 1)
  insertRange(-20_000n, 30_000, 1)
  insertRange(10_000n, 9_000, 1_000)
  insertRange(2n ** 40n, 2_100, 1, 2n ** 40n)
  insertRange(2n ** 60n, 9_000, 1)
  insertRange(greatest - 5_000n, 5_001, 1)
  db.exec('commit')
  return db
}

/** Asserts that both lists have the same ids, each equally often. */
function assertSame(ids: readonly unknown[], expected: readonly unknown[], message?: string): void {
  const [actual, wanted] = [ids.toSorted(), expected.toSorted()]
  const at = wanted.findIndex((id, i) => id !== actual[i])
  assert.deepEqual(
    [ids.length, at < 0 ? 'the same' : actual[at]],
    [expected.length, at < 0 ? 'the same' : wanted[at]],
    message,
  )
}

function readAll(db: DatabaseSync, query: string): string[] {
  const statement = db.prepare(query)
  statement.setReadBigInts(true)
  return statement.all().map((row) => String(Object.values(row)[0]))
}

function listIds(db: DatabaseSync, query: string): unknown[] {
  db.exec('begin')
  const ids = [...pages(db, query)].flatMap(({ array, count, nulls }) => {
    const page = JSON.parse(Buffer.from(array).toString())
    assert.equal(page.length, count)
    assert.ok(count > 0 && nulls === 0)
    return page
  })
  assert.ok(!db.isTransaction, 'the transaction has ended')
  return ids
}

const usesCopy = (db: DatabaseSync): boolean =>
  db.prepare("select count(*) as tables from sqlite_temp_schema where name = 'ids'").get()?.tables === 1

const direct = [
  'select user_id from players where brand = 1 and blocked = 1',
  'select p.user_id from players as p where p.blocked = 1 or p.brand = 2',
  'SELECT user_id\n FROM main.players p\nWHERE blocked = 0 -- a comment',
  'select user_id from players',
  'select n from players where blocked = 1 or brand = 2',
]

const copied = [
  'select user_id from players where blocked = 1 limit 5000',
  'select user_id from players where blocked = 1 order by user_id',
  'select distinct user_id from players where blocked = 1',
  'select p.user_id from players p join players o on o.n = p.n where p.blocked = 1',
  'select user_id from players where brand = 1 union all select user_id from players where brand = 2',
  'select user_id from players where n in (select n from players where blocked = 1)',
  'select user_id from players where n > 100 and n < 100000',
  'select user_id from chosen where blocked = 1',
  'select user_id from keyless where blocked = 1',
  'select user_id from misleading where blocked = 1',
]

for (const [queries, copies] of [
  [direct, false],
  [copied, true],
] as const)
  for (const query of queries)
    test(`${copies ? 'reads from a copy' : 'reads directly'}: ${query.replaceAll('\n', ' ')}`, () => {
      const db = players()
      db.exec(`
        create view chosen as select * from players where brand = 1;
        create table keyless (user_id text primary key, blocked integer) without rowid;
        insert into keyless select user_id, blocked from players;
        create table misleading (user_id text, rowid integer, blocked integer);
        insert into misleading select user_id, 7, blocked from players`)
      const expected = readAll(db, query)
      assert.ok(expected.length > 2_048)
      assertSame(listIds(db, query), expected)
      assert.equal(usesCopy(db), copies)
    })

test('the list is the same when SQLite prefers an index', () => {
  for (const index of ['brand', 'blocked', 'brand, blocked', 'brand, blocked, user_id', 'user_id']) {
    const db = players()
    db.exec(`create index players_by on players (${index}); analyze`)
    for (const query of direct.slice(0, 2)) {
      const expected = readAll(db, query)
      assertSame(listIds(db, query), expected, `${query} with an index of ${index}`)
      db.exec('drop table if exists temp.ids')
    }
  }
})

test('an empty result yields no page', () => {
  const db = players()
  assert.deepEqual(listIds(db, 'select user_id from players where brand = 3'), [])
  assert.deepEqual(listIds(db, 'select user_id from players where brand = 3 order by 1'), [])
})
