// The requirements for every Database. Run by test/store/sqlite.test.ts and test/store/postgres.test.ts.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { on } from '../../src/base/runtime/events.ts'
import type { Database, Migration } from '../../src/base/store/database.ts'
import { openDatabase } from '../../src/base/store/open-database.ts'
import type { Texts } from '../../src/base/store/scratch.ts'
import { op, rows, statement } from '../../src/base/store/statement.ts'
import { StoreUnavailable } from '../../src/base/store/store-unavailable.ts'
import { forkDatabase } from '../store/database-process.ts'
import { addAll, addUsers, allUsers, keepLast, migrations, someUsers, type User, usersOf } from '../store/users.ts'
import { openTestDatabase } from '../support/open-test-database.ts'
import { event } from '../support/wait.ts'

export interface Fixture {
  readonly engine: Database['engine']
  readonly skip: string | false
  /** The url of an empty database that only this test uses. */
  readonly fresh: () => Promise<string>
}

export function databaseSuite({ engine, skip, fresh }: Fixture): void {
  const checkWith =
    (shared: boolean) =>
    (title: string, run: (database: Database, t: TestContext, url: string) => Promise<void>): void => {
      test(`${engine}: ${title}`, { skip, timeout: 60_000 }, async (t) => {
        const url = await fresh()
        await run(await openTestDatabase(t, url, { migrations, shared }), t, url)
      })
    }
  const [check, checkShared] = [checkWith(false), checkWith(true)] as const

  check('all operations that wait at the end of a turn are one transaction', async (database) => {
    const committed = event('store.commit')
    await Promise.all(range(50).map((i) => database.commit([op(addUsers, [user('1', `u${i}`)])])))
    assert.partialDeepStrictEqual(await committed, { callers: 50, rows: 50, durable: true })
    assert.equal((await users(database)).length, 50)
  })

  check('merged reads of one turn give each caller the rows of its own request', async (database) => {
    const note = 'the "note"\n of ü'
    await database.commit([
      op(addUsers, [user('1', 'a', { born: 2 ** 53 - 1, note }), user('1', 'b', { born: null }), user('2', 'c')]),
    ])
    const read = (...brands: string[]) => database.readMerged(op(usersOf, brands, (brand) => [brand]))
    const idsOf = async (rows: Promise<readonly { id: string }[]>) => (await rows).map(({ id }) => id)
    const [one, two, both, none, some, all] = await Promise.all([
      read('1'),
      idsOf(read('2')),
      idsOf(read('2', '1')),
      read('3'),
      Promise.all([1, 2, 1].map((most) => idsOf(database.readMerged(op(someUsers, [['1', most]]))))),
      idsOf(database.readMerged(op(allUsers, [[]]))),
      database.readMerged(op(allUsers, [])),
    ])
    assert.deepEqual(one, await database.read(op(usersOf, [['1']])))
    assert.deepEqual(
      one.map(({ id, born, isBorn, note: found }) => [id, born, isBorn, found]),
      [
        ['b', null, 0, null],
        ['a', 2 ** 53 - 1, 1, note],
      ],
    )
    assert.deepEqual([two, both, none], [['c'], ['c', 'b', 'a'], []])
    assert.deepEqual(
      [some, all],
      [
        [['a'], ['a', 'b'], ['a']],
        ['a', 'b', 'c'],
      ],
    )
    await assert.rejects(database.readMerged(op(usersOf, [[1]])), TypeError)
    await database.close()
    await assert.rejects(Promise.all([read('1'), database.readMerged(op(allUsers, [[]]))]), StoreUnavailable)
  })

  check('a transaction is durable if one of its callers requests it', async (database) => {
    const durable: boolean[] = []
    const off = on('store.commit', (commit) => durable.push(commit.durable))
    const add = (id: string, requested: boolean) =>
      database.commit([op(addUsers, [user('1', id)])], { durable: requested })
    await Promise.all([add('a', false), add('b', true), add('c', false)])
    await Promise.all([add('d', false), add('e', false)])
    await add('f', true)
    off()
    assert.deepEqual(durable, [true, false, true])
    assert.equal((await users(database)).length, 6)
  })

  check('each caller gets the rows of its own operations', async (database) => {
    await database.commit([op(addUsers, [user('1', 'u3'), user('2', 'u4')])])
    const answers = await Promise.all(
      range(6).map((i) =>
        database.commit([op(addUsers, [user('1', `u${i}`), user('1', `v${i}`)]), op(addUsers, [user('1', `w${i}`)])]),
      ),
    )
    const ids = answers.map((ops) => ops.map((rows) => rows.map(({ id }) => id).sort()))
    assert.deepEqual(ids[1], [['u1', 'v1'], ['w1']])
    assert.deepEqual(ids[3], [['v3'], ['w3']])
    // User u4 of brand 2 is another user.
    assert.deepEqual(ids[4], [['u4', 'v4'], ['w4']])
  })

  check('if two callers insert the same key, only the first one gets the inserted row', async (database) => {
    const same = op(addUsers, [user('1', '1001')])
    const answers = await Promise.all([database.commit([same]), database.commit([same, same])])
    assert.partialDeepStrictEqual(answers, [[[{ id: '1001' }]], [[], []]])
    assert.deepEqual(answers[1], [[], []])
  })

  check('complete is 1 if every row of all callers of the transaction was inserted', async (database) => {
    const [one] = await Promise.all([
      database.commit([op(addAll, [user('1', 'a'), user('1', 'b')])]),
      database.commit([op(addAll, [user('2', 'a')])]),
    ])
    assert.deepEqual(one, [[{ complete: 1 }]])
    const answers = await Promise.all([
      database.commit([op(addAll, [user('1', 'c')])]),
      database.commit([op(addAll, [user('1', 'a')])]),
    ])
    assert.deepEqual(answers, [[[{ complete: 0 }]], [[{ complete: 0 }]]])
    assert.deepEqual(await database.commit([op(addAll, [user('1', 'd')])]), [[{ complete: 1 }]])
    assert.equal((await users(database)).length, 5)
  })
  check('if a row violates a constraint, only its caller is rejected', async (database) => {
    const repeated = event('store.repeated')
    const answers = await Promise.allSettled([
      database.commit([op(addUsers, [user('1', 'a')])]),
      database.commit([op(addUsers, [user('1', 'b'), user('1', 'unborn', { born: -1 })])]),
      database.commit([op(addUsers, [user('2', 'a')])]),
    ])
    assert.deepEqual(
      answers.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
    const { reason } = answers[1] as PromiseRejectedResult
    assert.match(reason.message, /^add_users: /)
    assert.ok(!(reason instanceof StoreUnavailable))
    assert.equal((await repeated).callers, 3)
    assert.deepEqual(
      (await users(database)).map(({ brand, id }) => [brand, id]),
      [
        ['1', 'a'],
        ['2', 'a'],
      ],
    )
  })

  check('a statement that SQLite runs row by row has the same result as on a set', async (database) => {
    const rows = (...born: number[]) => born.map((at) => ['1', `u${at % 3}`, at, at === 5 ? null : `born ${at}`])
    await Promise.all([database.commit([op(keepLast, rows(1, 7, 4))]), database.commit([op(keepLast, rows(5, 2, 3))])])
    assert.deepEqual(await database.commit([op(keepLast, rows(6))]), [[]])
    const [guilty, innocent] = await Promise.allSettled([
      database.commit([op(keepLast, rows(8, -1))]),
      database.commit([op(keepLast, [['2', 'u0', 9, 'of another brand']])]),
    ])
    assert.equal(innocent.status, 'fulfilled')
    assert.match((guilty as PromiseRejectedResult).reason.message, /^keep_last: /)
    assert.deepEqual(
      (await users(database)).map(({ brand, id, born, note }) => [brand, id, born, note]),
      [
        ['1', 'u0', 6, 'born 6'],
        ['1', 'u1', 7, 'born 7'],
        ['1', 'u2', 5, null],
        ['2', 'u0', 9, 'of another brand'],
      ],
    )
  })

  check('a value that cannot be stored is refused before it joins a transaction', async (database) => {
    let repeated = 0
    const off = on('store.repeated', () => repeated++)
    const bad: [string, readonly unknown[]][] = [
      ['U+0000', user('1', 'a\0b')],
      ['surrogate', user('1', 'a\ud800b')],
      ['number', user('1', 'x', { born: 2 ** 53 })],
      ['number', user('1', 'x', { born: 1.5 })],
      ['number', user('1', 'x', { born: Number.NaN })],
      ['string', user('1', 'x', { born: '5' })],
      ['undefined', ['1', 'x', 0, 0, undefined]],
      ['2 values', ['1', 'x']],
    ]
    const good = database.commit([op(addUsers, [user('1', 'good')])])
    for (const [expected, row] of bad) {
      const bad = op(addUsers, [row as unknown as User])
      await assert.rejects(
        database.commit([bad]),
        ({ message }: Error) => message.includes(expected) && /add_users|^(id|note) holds/.test(message),
      )
    }
    await good
    off()
    assert.equal(repeated, 0)
    assert.equal((await users(database)).length, 1)
  })

  check(
    'statements run in order of their places (by name if they are not in the list), not of operations or callers',
    async (database) => {
      const answers = await Promise.all([
        database.commit([op(renameUsers, [['1', 'a', 'Anna']]), op(addUsers, [user('1', 'a')])]),
        database.commit([op(renameUsers, [['2', 'a', 'Anton']])]),
        database.commit([op(addUsers, [user('2', 'a')])]),
      ])
      assert.deepEqual(answers[0][0], [{ id: 'a', note: 'Anna' }])
      assert.deepEqual(
        (await users(database)).map(({ note }) => note),
        ['Anna', 'Anton'],
      )
    },
  )

  check('nulls, numbers and texts are read as they were written', async (database) => {
    const texts = [
      '',
      ' ',
      `'"\\{},`,
      'NULL',
      'null',
      'é€😀\u2028\r\n\t',
      '\uffff\u{10ffff}',
      '{"a":[1,"x"]}',
      '\\x00',
      `${'"\\é'.repeat(200_000)}`,
    ]
    const numbers = [0, -0, 1, -1, 2 ** 31, -(2 ** 31) - 1, 2 ** 32, 2 ** 52 + 1, Number.MAX_SAFE_INTEGER]
    const rows = [
      ...texts.map((note, i) => user('1', `t${i}`, { note })),
      ...numbers.map((born, i) => user('1', `n${i}`, { born: Math.abs(born), seen: born })),
      user('1', 'nothing', { born: null, seen: null, note: null }),
    ]
    // Once as several rows and once row by row, because these are two code paths.
    await database.commit([op(addUsers, rows)])
    await database.commit([op(addUsers, rows.map(([, ...rest]) => ['2', ...rest] as (typeof rows)[0]).slice(0, 1))])
    for (const [, ...rest] of rows.slice(1)) await database.commit([op(addUsers, [['2', ...rest]])])
    for (const brand of ['1', '2']) {
      const found = new Map((await users(database)).filter((one) => one.brand === brand).map((one) => [one.id, one]))
      for (const [, id, born, seen, note] of rows)
        assert.deepEqual(found.get(id as string), { brand, id, born, seen: seen === 0 ? 0 : seen, note })
      assert.equal(found.size, rows.length)
    }
  })

  check('an operation without rows does nothing and returns nothing', async (database) => {
    assert.deepEqual(await database.commit([op(addUsers, []), op(addUsers, [user('1', 'a')])]), [[], [{ id: 'a' }]])
    assert.deepEqual(await database.commit([op(addUsers, [])]), [[]])
    assert.deepEqual(await database.commit([]), [])
    assert.deepEqual(await database.read(op(allUsers, [])), [])
  })

  check(
    'one operation can have 10,000 rows, and many large operations are split into several transactions',
    async (database) => {
      const sizes: number[] = []
      const off = on('store.commit', ({ rows }) => sizes.push(rows))
      const [added] = await database.commit([op(addUsers, range(10_000), (i) => user('1', `u${i}`))])
      assert.equal(added.length, 10_000)
      const answers = await Promise.all(
        range(12).map((c) => database.commit([op(addUsers, range(1_000), (i) => user('2', `${c}/${i}`))])),
      )
      off()
      assert.ok(answers.every(([rows]) => rows.length === 1_000))
      assert.deepEqual(sizes, [10_000, 5_000, 5_000, 2_000])
      assert.equal((await database.read(op(findUsers, range(10_000), (i) => ['1', `u${i}`]))).length, 10_000)
    },
  )

  check('a statement gets the rows of all callers as one set', async (database) => {
    await Promise.all([
      database.commit([
        op(numberUsers, [
          ['1', 'a'],
          ['2', 'a'],
        ]),
      ]),
      database.commit([op(numberUsers, [['1', 'b']])]),
    ])
    const rows = (await users(database)).map(({ brand, id, born, seen }) => [brand, id, born, seen])
    assert.deepEqual(rows, [
      ['1', 'a', 1, 3],
      ['1', 'b', 2, 3],
      ['2', 'a', 1, 3],
    ])
  })

  check('a statement that returns rows and has no route runs separately for each operation', async (database) => {
    await database.commit([op(addUsers, range(6), (i) => user('1', `u${i}`))])
    const [[first], [second]] = await Promise.all([
      database.commit([op(deleteSome, [[4]])]),
      database.commit([op(deleteSome, [[4]])]),
    ])
    assert.deepEqual([first.length, second.length], [4, 2])
  })

  check('a statement without input columns runs once for all callers', async (database) => {
    await database.commit([op(addUsers, [user('1', 'a', { seen: 1 }), user('2', 'a', { seen: 1 })])])
    await Promise.all([database.commit([op(countView, [[]])]), database.commit([op(countView, [[]])])])
    assert.deepEqual(
      (await users(database)).map(({ seen }) => seen),
      [2, 2],
    )
  })

  check('every engine returns the same types', async (database) => {
    const [row] = await database.read(op(kinds, [['1', 9_007_199_254_740_991]]))
    assert.deepEqual(row, {
      yes: 1,
      no: 0,
      many: 1,
      total: 9_007_199_254_740_991,
      digits: '9007199254740991',
      empty: null,
      half: 0.5,
    })
  })

  check('key columns sort by bytes, and serial numbers increase', async (database) => {
    const ids = ['b', 'a', 'B', 'A', 'é', '10', '9', '_', 'z', '😀']
    await database.commit([op(addEntries, ids, (id) => [id])])
    const found = await database.read(op(allEntries, [[]]))
    assert.deepEqual(
      found.map(({ id }) => id),
      [...ids].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
    )
    const numbers = [...found].sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id)).map(({ seq }) => seq)
    assert.deepEqual(
      numbers,
      [...numbers].sort((a, b) => a - b),
    )
  })

  check('a listener is called once after each commit, and not after a failed one', async (database) => {
    const calls: string[] = []
    const off = database.onWake('lane 1', () => calls.push('1'))
    database.onWake('lane 2', () => calls.push('2'))
    await assert.rejects(database.commit([op(addUsers, [user('1', 'x', { born: -1 })]), database.wake('lane 2')]))
    assert.deepEqual(await database.commit([database.wake('lane 1')]), [[]])
    await Promise.all(
      range(3).map((i) => database.commit([op(addUsers, [user('1', `u${i}`)]), database.wake('lane 1')])),
    )
    off()
    await database.commit([database.wake('lane 1')])
    assert.deepEqual(calls, ['1', '1'])
  })

  check('an ownership is exclusive until it is released', async (database) => {
    const [first, second] = await Promise.all([database.own('1/push'), database.own('1/push')])
    assert.ok(first)
    assert.equal(second, undefined)
    const other = await database.own('2/push')
    assert.ok(other)
    await first.release()
    await first.release()
    const next = await database.own('1/push')
    assert.ok(next)
    // A released ownership cannot release that of its successor.
    await first.release()
    assert.equal(await database.own('1/push'), undefined)
    assert.equal(next.lost.aborted, false)
  })

  check('alive() contains this process and no unknown one', async (database) => {
    assert.deepEqual(await database.alive([database.owner, 'somebody']), new Set([database.owner]))
    assert.deepEqual(await database.alive([]), new Set())
  })

  check('close() finishes waiting commits, loses ownerships, and refuses later calls', async (database, _t, url) => {
    const ownership = await database.own('1/push')
    const last = database.commit([op(addUsers, [user('1', 'last')])])
    await Promise.all([database.close(), database.close()])
    await last
    assert.equal(ownership?.lost.aborted, true)
    await assert.rejects(database.commit([op(addUsers, [user('1', 'late')])]), StoreUnavailable)
    await assert.rejects(database.read(op(allUsers, [[]])), StoreUnavailable)
    await assert.rejects(database.own('1/push'), StoreUnavailable)

    const reopened = await openDatabase(url, { migrations })
    assert.deepEqual(
      (await users(reopened)).map(({ id }) => id),
      ['last'],
    )
    assert.notEqual(reopened.owner, database.owner)
    await reopened.close()
  })

  const oddTexts = ['"', '\\', '\\"', 'tab\tand\nline\r', 'ü', '😀', '\\N', '\\.', 'x'.repeat(10_000)]
  async function* chunksOf(lines: readonly string[], texts: readonly string[]): AsyncGenerator<Texts> {
    for (let i = 0; i < lines.length; i += 3)
      yield { lines: new Uint8Array(Buffer.from(`${lines.slice(i, i + 3).join('\n')}\n`)) }
    if (texts.length > 0) yield { texts }
  }

  checkShared('a scratch connection compares a set with a table, and does not block commits', async (database, t) => {
    await database.commit([op(addUsers, [...range(50).map((i) => user('1', `u${i}`)), user('2', 'u99')])])
    const scratch = await database.scratch()
    t.after(() => scratch.close())
    assert.equal(scratch.engine, engine)
    await scratch.load('loaded', chunksOf(['u99', 'ü', 'u1', ...range(40).map((i) => `u${i + 10}`)], oddTexts.slice(5)))
    assert.deepEqual(await scratch.repeated('loaded'), [])
    await database.commit([op(addUsers, [user('1', 'late')])]) // the scratch connection does not block the writer
    const only = await scratch.run<{ text: string }>(
      'select text from loaded except select id from users where brand = $1 order by 1',
      ['1'],
    )
    assert.deepEqual(only.map(({ text }) => text).toSorted(), [...oddTexts.slice(5), 'u99', 'ü'].toSorted())
    const missing = 'select count(*) as n from users where brand = $1 and id not in (select text from loaded)'
    assert.deepEqual({ ...(await scratch.run(missing, ['1']))[0] }, { n: 50 - 41 + 1 })
  })

  check('a scratch table is joined with the tables of the database, and ends with its use', async (database, t) => {
    await database.commit([op(addUsers, [...range(50).map((i) => user('1', `u${i}`)), user('2', 'u3')])])
    const tables = await Promise.all([
      database.scratchTable({ id: 'text', at: 'bigint' }),
      database.scratchTable({ id: 'text' }),
    ])
    const [table, other] = tables
    t.after(() => Promise.all(tables.map((each) => each.close())))
    await table.fill([...range(5_000).map((i) => [`u${2 * i}`, 2 ** 40 + i]), ...oddTexts.map((text, i) => [text, i])])
    await database.commit([op(addUsers, [user('1', 'late'), ...oddTexts.map((text) => user('3', text))])])
    await other.fill([['late']])
    const joined = (name: string, brand: string) =>
      table.run(`select count(*) as n from users u join ${name} s on s.id = u.id where u.brand = $1`, [brand])
    assert.deepEqual({ ...(await joined(table.name, '1'))[0] }, { n: 25 })
    assert.deepEqual({ ...(await joined(table.name, '3'))[0] }, { n: oddTexts.length })
    const [last] = await table.run(`select max(at) as at from ${table.name}`)
    assert.deepEqual({ ...last }, { at: 2 ** 40 + 4_999 })
    await table.close()
    await assert.rejects(joined(table.name, '1'))
    assert.equal((await other.run(`select id from ${other.name}`)).length, 1)
    await assert.rejects(other.run('select nothing'), 'an error')
    assert.equal((await other.run(`select id from ${other.name}`)).length, 1)
  })

  checkShared('a scratch connection keeps texts unchanged, and lists those that occur twice', async (database, t) => {
    const scratch = await database.scratch()
    t.after(() => scratch.close())
    await scratch.load('loaded', chunksOf(['a', 'b', 'a', 'c', 'd', 'a'], [...oddTexts, 'c']))
    assert.deepEqual((await scratch.repeated('loaded')).toSorted(), ['a', 'c'])
    const rows = await scratch.run<{ text: string }>('select distinct text from loaded order by text')
    assert.deepEqual(
      rows.map(({ text }) => text),
      ['a', 'b', 'c', 'd', ...oddTexts].toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
    )
  })

  checkShared('load() rejects with the error of its source, and close() ends a load at any time', async (database) => {
    const scratch = await database.scratch()
    async function* breaking(): AsyncGenerator<Texts> {
      yield { texts: ['a'] }
      throw new RangeError('the source broke')
    }
    await assert.rejects(scratch.load('loaded', breaking()), /the source broke/)
    const waiting = Promise.withResolvers<void>()
    async function* stuck(): AsyncGenerator<Texts> {
      yield { texts: ['a'] }
      await waiting.promise
      yield { texts: ['b'] }
    }
    const loading = assert.rejects(scratch.load('interrupted', stuck()))
    await scratch.close()
    waiting.resolve()
    await loading
    await assert.rejects(scratch.run('select 1 as one'))
  })

  check('a migration is applied once, and a failed one leaves no changes', async (database, _t, url) => {
    await database.commit([op(addUsers, [user('1', 'a')])])
    await database.close()
    const failing: Migration = {
      name: 'test/9',
      statements: () => ['create table half (id bigint)', 'create nonsense'],
    }
    await assert.rejects(
      openDatabase(url, { migrations: [...migrations, failing] }),
      /Migration test\/9 could not be applied: /,
    )
    const whole: Migration = { name: 'test/9', statements: () => ['create table half (id bigint)'] }
    const reopened = await openDatabase(url, { migrations: [...migrations, whole] })
    assert.equal((await users(reopened)).length, 1)
    await reopened.close()
  })

  for (const durable of [true, false]) {
    check(`every acknowledged row is kept after SIGKILL (durable: ${durable})`, async (database, t, url) => {
      await database.close()
      const writer = await forkDatabase(t, url)
      const acknowledged = writer.acknowledged(200)
      await writer.call('write', durable)
      const ids = await acknowledged
      await writer.kill()
      const reopened = await openTestDatabase(t, url, { migrations })
      const found = new Set((await users(reopened)).map(({ id }) => id))
      assert.deepEqual(
        ids.filter((id) => !found.has(id)),
        [],
      )
    })
  }
}

export const range = (count: number): number[] => [...Array(count).keys()]

export function user(
  brand: string,
  id: string,
  { born = 0, seen = 0, note = null }: { [key: string]: unknown } = {},
): User {
  return [brand, id, born, seen, note] as User
}

export const users = (database: Database) => database.read(op(allUsers, [[]]))

const renameUsers = statement<{ id: string; note: string }>({
  name: 'rename_users',
  columns: { brand: 'text', id: 'text', note: 'text' },
  route: 'note',
  text: (rows) => `
    update users set note = r.note from ${rows} r where users.brand = r.brand and users.id = r.id returning users.id, users.note`,
})

const findUsers = statement<{ id: string }>('find_users', { brand: 'text', id: 'text' })`
  select u.id from ${rows} r join users u on u.brand = r.brand and u.id = r.id`

const numberUsers = statement('number_users', { brand: 'text', id: 'text' })`
  insert into users (brand, id, born, seen)
  select r.brand, r.id, row_number() over (partition by r.brand order by r.id), (select count(*) from ${rows} c) from ${rows} r`

const deleteSome = statement<{ id: string }>('delete_some', { most: 'bigint' })`
  delete from users where (brand, id) in (select u.brand, u.id from users u order by u.id limit (select r.most from ${rows} r)) returning id`

const countView = statement('count_view', {})`update users set seen = seen + 1`

const kinds = statement<{ total: number }>('kinds', { brand: 'text', n: 'bigint' })`
  select r.brand = '1' as yes, r.brand = '2' as no, count(*) as many, sum(r.n) as total,
    cast(r.n as text) as digits, null as empty, 0.5 as half
  from ${rows} r group by r.brand, r.n`

const addEntries = statement('add_entries', { id: 'text' })`
  insert into entries (id) select r.id from ${rows} r`

const allEntries = statement<{ seq: number; id: string }>('all_entries', {})`
  select seq, id from entries order by id`
