// `bellwire move`: both sides move from SQLite to PostgreSQL with everything that they hold.

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test from 'node:test'
import { openDatabase } from '../../src/base/store/open-database.ts'
import { other, plantOperator, plantPlatform } from '../people/planted.ts'
import { freshSchema, query, withoutPostgres } from '../support/services/postgres.ts'
import { adminKey, element, get, keys, post, startOperator, startPlatform, temporary } from '../support/sides.ts'
import { until } from '../support/wait.ts'
import { run, start } from './bellwire.ts'

const skip = await withoutPostgres()
const strange = 'tab\t, line\n, return\r, \\N, \\\\t, \v\f\b, "quote", é, 🔔, end\\'

async function configOf(folder: string): Promise<string> {
  const file = join(folder, 'bellwire.yaml')
  await writeFile(
    file,
    JSON.stringify({
      operator: {
        store: `sqlite:${join(folder, 'operator.db')}`,
        keys: [{ name: 'x', key: 'a-key-of-the-test-0123456789', brands: [1] }],
        push: { provider: 'recording' },
        suppression: 'none',
      },
      platform: {
        store: `sqlite:${join(folder, 'platform.db')}`,
        lanes: [
          { brand: 1, channel: 'push', to: { provider: 'operator-api', url: 'http://127.0.0.1:1', api_key: 'k' } },
        ],
      },
    }),
  )
  return file
}

test('an operator moves to PostgreSQL: keys, devices and inbox are there, and the old file is refused', {
  skip,
}, async (t) => {
  const folder = await temporary(t)
  const store = `sqlite:${join(folder, 'operator.db')}`
  const planted = await plantOperator(t, store)
  const odd = element({ id: 77, user_id: other.userId }, { title: strange })
  const { body: first } = await post(`${planted.url}/channels/push/batch`, [odd], keys.one.key)
  const { body: before } = await get(`${planted.url}/admin/summary`)
  await planted.stop()
  const config = await configOf(folder)
  const to = await freshSchema()
  const moved = await run(['move', 'operator', '--yes', '--json', '-c', config], { BELLWIRE_MOVE_TO: to })
  assert.equal(moved.code, 0, moved.err)
  const { tables } = JSON.parse(moved.out) as { tables: { table: string; rows: number }[] }
  const rowsOf = (name: string) => tables.find(({ table }) => table === name)?.rows ?? 0
  for (const table of [
    'messages',
    'requests',
    'devices',
    'device_unlinks',
    'inbox',
    'items',
    'waiting',
    'audit',
    'message_counts',
  ])
    assert.ok(rowsOf(table) > 0, `${table} has rows`)

  const again = await startOperator(t, { store: to, status: {} })
  const { body } = await post(`${again.url}/channels/push/batch`, [odd], keys.one.key)
  assert.deepEqual(body, first, 'the key of the delivered message is known')
  const { body: summary } = await get(`${again.url}/admin/summary`)
  assert.deepEqual(summary, before)
  await again.stop()
  await assert.rejects(
    startOperator(t, { store }),
    /was moved to PostgreSQL with `bellwire move`: write the new address/,
  )
  const repeated = await run(['move', 'operator', '--yes', '-c', config], { BELLWIRE_MOVE_TO: await freshSchema() })
  assert.match(repeated.err, /was moved to PostgreSQL/)
})

test('a platform moves to PostgreSQL with its CRM: waiting messages are sent, and both chains of the audit trail are intact', {
  skip,
}, async (t) => {
  const folder = await temporary(t)
  const store = `sqlite:${join(folder, 'platform.db')}`
  const planted = await plantPlatform(t, store)
  const env = { BELLWIRE_KEY: adminKey.key }
  const backup = join(folder, 'backup')
  const made = await run(['backup', 'platform', '--out', backup, '--url', planted.url], env)
  assert.equal(made.code, 0, made.err)
  // New, changed and deleted rows after the backup.
  await planted.enqueue([1, 4, 5].map((id) => element({ id, user_id: 'third' }, { title: strange })))
  await post(`${planted.url}/admin/attributes/1/${other.userId}`, { excluded: false }, adminKey.key)
  await post(`${planted.url}/admin/failed/replay`, { all: true, reason: 'x' }, adminKey.key)
  await until(async () => (await get(`${planted.url}/admin/summary`)).body.successful === 3, {
    awaited: 'one more is sent',
  })
  const config = await configOf(folder)
  const to = await freshSchema()

  const full = await openDatabase(to, {
    migrations: [{ name: 'x/1', statements: () => ['create table x (a bigint)'], readableFrom: '99.0.0' }],
  })
  await full.close()
  const move = ['move', 'platform', '--yes', '--json', '-c', config]
  const refused = await run([...move, '--to', to])
  assert.deepEqual([refused.code, /is open in another process/.test(refused.err)], [3, true], refused.err)
  const later = await run([...move, '--to', to, '--backup', backup])
  assert.deepEqual([later.code, /later version/.test(later.err)], [2, true], later.err)

  const empty = await freshSchema()
  const interrupted = start(t, [...move, '--to', empty, '--backup', backup])
  await until(() => interrupted.err().includes('Stop the platform now'), {
    awaited: 'the backup is copied',
    withinMs: 60_000,
  })
  interrupted.child.kill('SIGINT')
  const { code, err } = await interrupted.ended
  assert.deepEqual([code, /interrupted: nothing was moved/.test(err)], [1, true], err)
  assert.deepEqual(await query(empty, 'select seq from items'), [], 'the command can be repeated')
  const moving = start(t, [...move, '--to', empty, '--backup', backup])
  await until(() => moving.err().includes('Stop the platform now'), {
    awaited: 'the backup is copied',
    withinMs: 60_000,
  })
  const before = (await get(`${planted.url}/admin/summary`)).body
  await planted.stop()
  const moved = await moving.ended
  assert.equal(moved.code, 0, moved.err)
  await assertEqualRows(folder, empty)
  const again = await startPlatform(t, {
    store: empty,
    lanes: [{ brand: '1', channel: 'push', mode: 'batch', provider: silent }],
  })
  const { body: after } = await get(`${again.url}/admin/summary`)
  assert.deepEqual(after, before)
  const verified = await run(['audit', 'verify', '--url', again.url], { BELLWIRE_KEY: adminKey.key })
  assert.deepEqual([verified.code, /Intact/.test(verified.out)], [0, true], verified.out)
  // The next number follows those of the file.
  const db = new DatabaseSync(join(folder, 'platform.db'))
  const { seq } = db.prepare(`select seq from sqlite_sequence where name = 'items'`).get() as { seq: number }
  db.close()
  const { body } = await post(`${again.url}/admin/activities/push`, [element({ id: 999 })], adminKey.key)
  assert.deepEqual(body.seqs, [[seq + 1, seq + 1]])
})

/** Compares all rows, without the appended and new entries of the audit trail. */
async function assertEqualRows(folder: string, to: string) {
  for (const name of ['platform.db', 'platform-crm.db']) {
    const db = new DatabaseSync(join(folder, name))
    for (const { name: table } of db.prepare(`select name from sqlite_schema where type = 'table'`).all()) {
      if (/^(sqlite_sequence|migrations|write_probes|audit)$/.test(String(table))) continue
      const inFile = db.prepare(`select * from ${table}`).all()
      const moved = await query(to, `select * from ${table}`)
      const text = (rows: readonly object[]) =>
        rows
          .map((row) => JSON.stringify(Object.values(row).map((value) => (value === null ? null : String(value)))))
          .sort()
      assert.deepEqual(text(moved), text(inFile), `${table}`)
    }
    db.close()
  }
}

const silent = {
  name: 'silent',
  max: 100,
  send: () => new Promise<never>(() => {}),
}
