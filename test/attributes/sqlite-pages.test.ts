import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import test from 'node:test'
import { pages } from '../../src/attributes/sqlite-pages.ts'

const greatest = 2n ** 63n - 1n

/** Players in stretches where all, none and few are blocked, with gaps of any length between their keys. */
function players(): DatabaseSync {
  const db = new DatabaseSync(':memory:')
  db.exec('create table players (n integer primary key, user_id, brand text, blocked integer)')
  const insert = db.prepare('insert into players values (?, ?, ?, ?)')
  insert.setReadBigInts(true) // it tells the last key
  const stretch = (from: bigint, count: number, every: number, gap = 1n): void => {
    for (let i = 0; i < count; i++) {
      const n = from + BigInt(i) * gap
      insert.run(n, `u${n}`, i % 5 === 0 ? '2' : '1', i % every === 0 ? 1 : 0)
    }
  }
  db.exec('begin')
  stretch(-(2n ** 63n), 3_000, 1)
  stretch(-20_000n, 30_000, 1)
  stretch(10_000n, 9_000, 1_000)
  stretch(2n ** 40n, 2_100, 1, 2n ** 40n)
  stretch(2n ** 60n, 9_000, 1)
  stretch(greatest - 5_000n, 5_001, 1)
  db.exec('commit')
  return db
}

/** Each as often as expected. */
function assertSame(ids: readonly unknown[], expected: readonly unknown[], message?: string): void {
  const [mine, theirs] = [ids.toSorted(), expected.toSorted()]
  const at = theirs.findIndex((id, i) => id !== mine[i])
  assert.deepEqual(
    [ids.length, at < 0 ? 'the same' : mine[at]],
    [expected.length, at < 0 ? 'the same' : theirs[at]],
    message,
  )
}

function everything(db: DatabaseSync, query: string): string[] {
  const statement = db.prepare(query)
  statement.setReadBigInts(true)
  return statement.all().map((row) => String(Object.values(row)[0]))
}

function listed(db: DatabaseSync, query: string): unknown[] {
  db.exec('begin')
  const ids = [...pages(db, query)].flatMap(({ array, count, nulls }) => {
    const some = JSON.parse(Buffer.from(array).toString())
    assert.equal(some.length, count)
    assert.ok(count > 0 && nulls === 0)
    return some
  })
  assert.ok(!db.isTransaction, 'the file is free')
  return ids
}

const usesCopy = (db: DatabaseSync): boolean =>
  db.prepare("select count(*) as tables from sqlite_temp_schema where name = 'ids'").get()?.tables === 1

const straight = [
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
  [straight, false],
  [copied, true],
] as const)
  for (const query of queries)
    test(`${copies ? 'a copy of' : 'straight from'} ${query.replaceAll('\n', ' ')}`, () => {
      const db = players()
      db.exec(`
        create view chosen as select * from players where brand = 1;
        create table keyless (user_id text primary key, blocked integer) without rowid;
        insert into keyless select user_id, blocked from players;
        create table misleading (user_id text, rowid integer, blocked integer);
        insert into misleading select user_id, 7, blocked from players`)
      const expected = everything(db, query)
      assert.ok(expected.length > 2_048)
      assertSame(listed(db, query), expected)
      assert.equal(usesCopy(db), copies)
    })

test('an index that the engine would rather use makes no difference to what is listed', () => {
  for (const index of ['brand', 'blocked', 'brand, blocked', 'brand, blocked, user_id', 'user_id']) {
    const db = players()
    db.exec(`create index players_by on players (${index}); analyze`)
    for (const query of straight.slice(0, 2)) {
      const expected = everything(db, query)
      assertSame(listed(db, query), expected, `${query} with an index of ${index}`)
      db.exec('drop table if exists temp.ids')
    }
  }
})

test('nobody is no page', () => {
  const db = players()
  assert.deepEqual(listed(db, 'select user_id from players where brand = 3'), [])
  assert.deepEqual(listed(db, 'select user_id from players where brand = 3 order by 1'), [])
})
