// PostgreSQL chooses another plan for a look-up when it has statistics of a large table. Each look-up must read only the rows that
// it returns: here the index entries are counted that PostgreSQL reads.

import assert from 'node:assert/strict'
import test from 'node:test'
import { createQueue, queueMigrations } from '../../src/base/queue/create-queue.ts'
import { messageKey } from '../../src/contract/message-key.ts'
import { operatorMigrations } from '../../src/sides/operator/store.ts'
import { findById, findByRef, findByUser } from '../../src/subjects/delivery/messages.ts'
import { createRegistry, deviceMigrations } from '../../src/subjects/devices/registry.ts'
import { createStatusPages } from '../../src/subjects/status/pages.ts'
import { statusMigrations } from '../../src/subjects/status/tables.ts'
import { deviceOf } from '../suites/devices.ts'
import { entriesPerLookUp } from '../support/index-reads.ts'
import { openTestDatabase } from '../support/open-test-database.ts'
import { freshSchema, query, withoutPostgres } from '../support/services/postgres.ts'

const skip = await withoutPostgres()
const rows = 50_000
/** More are read only if the plan scans rows that it does not return. */
const mostEntries = 200
const keyOf = (n: number): string =>
  messageKey('push', { id: String(n), userId: String(n % 5_000), activityId: '7', actionId: null, triggerHash: null })

test('a look-up of a message reads few index entries, also if PostgreSQL has statistics', { skip }, async (t) => {
  const url = await freshSchema()
  const database = await openTestDatabase(t, url, { migrations: operatorMigrations })
  await query(
    url,
    `insert into messages (brand, key, ref, user_id, state, attempt, uncertain, owner, request, start_at, length, updated_at, chunk)
     select '1', '["push","' || n || '","' || (n % 5000) || '","7",null,null]', 'ref-' || lpad(n::text, 8, '0'), (n % 5000)::text,
       'successful', 1, 0, 'o', 'r', 0, 1, 0, n / 10000 from generate_series(1, ${rows}) n`,
  )
  await query(url, 'analyze messages')
  const lookUps = {
    identifier: () => findByRef(database, ['1', '2'], 'ref-00000042'),
    activity: () => findById(database, ['1', '2'], '42'),
    user: () => findByUser(database, '1', '42'),
  }
  for (const [name, lookUp] of Object.entries(lookUps)) {
    const entries = await entriesPerLookUp(url, 'messages', lookUp, mostEntries)
    assert.ok(entries <= mostEntries, `by ${name}: ${entries} index entries`)
  }
  assert.equal((await lookUps.activity()).length, 1)
  assert.equal((await lookUps.user()).length, rows / 5_000)
})

test('a look-up of an item reads few index entries, also if PostgreSQL has statistics', { skip }, async (t) => {
  const url = await freshSchema()
  const database = await openTestDatabase(t, url, { migrations: queueMigrations })
  const queue = createQueue(database)
  for (let from = 1; from <= rows; from += 10_000) {
    const items = Array.from({ length: 10_000 }, (_, i) => ({ key: keyOf(from + i), text: '{}' }))
    await queue.enqueue('1/push', items)
  }
  await query(url, 'analyze')
  const lookUps = {
    activity: () => queue.findItems({ lanes: ['1/push', '1/site'], id: '42' }),
    user: () => queue.findItems({ lanes: ['1/push'], userId: '42' }),
  }
  for (const [name, lookUp] of Object.entries(lookUps)) {
    const entries = await entriesPerLookUp(url, 'items', lookUp, mostEntries)
    assert.ok(entries <= mostEntries, `by ${name}: ${entries} index entries`)
  }
  assert.equal((await lookUps.activity()).length, 1)
  assert.equal((await lookUps.user()).length, rows / 5_000)
})

test('a poll of statuses reads only index entries of its brands, also if PostgreSQL has statistics', {
  skip,
}, async (t) => {
  const url = await freshSchema()
  const database = await openTestDatabase(t, url, { migrations: statusMigrations })
  // Nearly all statuses are of brand 1.
  const brand = `case when n % (${rows} / 5) = 0 then '2' else '1' end`
  await query(
    url,
    `insert into status_messages (ref, brand, channel, user_id, meta)
     select 'ref-' || n, ${brand}, 'push', '1001', '{}' from generate_series(1, ${rows}) n`,
  )
  await query(
    url,
    `insert into statuses (ref, status, brand, at, recorded_at, number)
     select 'ref-' || n, 'sent', ${brand}, '2026-01-01T10:00:00', 1, n from generate_series(1, ${rows}) n`,
  )
  await query(url, `insert into status_batches (last, tag, at) values (${rows}, 'tag', 1)`)
  await query(url, `update status_counter set last = ${rows}`)
  await query(url, 'analyze')
  const pages = createStatusPages(database)
  const polls = {
    first: () => pages.read(['2'], undefined, 10),
    last: () => pages.read(['2'], `${rows}.tag`, 10),
    several: () => pages.read(['1', '2'], undefined, 10),
  }
  for (const [name, poll] of Object.entries(polls)) {
    const entries = await entriesPerLookUp(url, 'statuses', poll, mostEntries)
    assert.ok(entries <= mostEntries, `${name}: ${entries} index entries`)
  }
  const page = await polls.first()
  assert.equal(page.restart === undefined && page.records.length, 5)
})

test('an unlink reads few index entries of a user with many unlinks, if its plan was made while the tables were empty', {
  skip,
}, async (t) => {
  const url = await freshSchema()
  const database = await openTestDatabase(t, url, { migrations: deviceMigrations })
  const registry = createRegistry({ database })
  let unlinks = 0
  const unlink = () =>
    registry.storeEvents([deviceOf({ what: 'unlink', id: `d${++unlinks}`, at: '2026-06-01T12:00:00' })])
  await unlink()
  await query(
    url,
    `insert into devices select '1', 'd' || n, '2026-01-01T10:00:00', 'a', 'token', 'fcm_token', '', '', 'android', 'test'
     from generate_series(1, ${rows / 10}) n;
     insert into device_unlinks select '1', 'd' || n, 'a', '2026-01-01T09:00:00', 1 from generate_series(2, ${rows / 10}) n`,
  )
  const entries = await entriesPerLookUp(url, 'device_unlinks', unlink, mostEntries)
  assert.ok(entries <= mostEntries, `${entries} index entries`)
  const [row] = await query(url, `select count(*)::int as tokens from devices where token = ''`)
  assert.equal(row?.tokens, unlinks - 1)
})
