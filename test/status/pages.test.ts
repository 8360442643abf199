import assert from 'node:assert/strict'
import { erasedPerson } from '../../src/base/people/digest.ts'
import type { Database } from '../../src/base/store/database.ts'
import { op, statement } from '../../src/base/store/statement.ts'
import type { MessageStatus } from '../../src/contract/status.ts'
import { timestampOf } from '../../src/contract/timestamp.ts'
import { statusPersonPart } from '../../src/subjects/status/person-data.ts'
import { forgetStatuses } from '../../src/subjects/status/retention.ts'
import { onEachEngine, onPostgres, onSqlite } from '../support/engines.ts'
import { openSession } from '../support/services/postgres.ts'
import { add, openStatuses, readAll, sent } from './open-statuses.ts'

const shown = (records: readonly { readonly ref: string; readonly status: MessageStatus }[]) =>
  records.map(({ ref, status }) => `${ref} ${status}`)

onEachEngine('pages of any size have each status once, in order, with its meta byte for byte', async (t, store) => {
  const statuses = await openStatuses(t, store)
  const messages = Array.from({ length: 25 }, () => sent())
  for (const message of messages) await add(statuses, message)
  await statuses.recorder.record(messages.map(({ brand, ref, at }) => ({ brand, ref, at, status: 'clicked' })))
  const expected = [...messages.map(({ ref }) => `${ref} sent`), ...messages.map(({ ref }) => `${ref} clicked`)]
  for (const limit of [1, 7, 50, 1_000]) {
    const { records } = await readAll(statuses.pages, undefined, ['1'], limit)
    assert.deepEqual(shown(records), expected)
    assert.deepEqual(
      records.map(({ meta }) => meta),
      [...messages, ...messages].map(({ meta }) => meta),
    )
  }
})

onSqlite('the cursor of the last page returns only later statuses, also after a restart', async (t, store) => {
  const first = await openStatuses(t, store)
  const [a, b] = [sent(), sent()]
  await add(first, a)
  const { next } = await readAll(first.pages)
  await first.database.close()
  const second = await openStatuses(t, store)
  assert.deepEqual(await readAll(second.pages, next), { records: [], next })
  await add(second, b)
  assert.deepEqual(shown((await readAll(second.pages, next)).records), [`${b.ref} sent`])
})

onEachEngine('a repeated status keeps its first time and is read once', async (t, store) => {
  const statuses = await openStatuses(t, store)
  const message = sent()
  await add(statuses, message)
  const { next } = await readAll(statuses.pages)
  await add(statuses, { ...message, at: '2026-01-01T11:00:00' })
  await statuses.recorder.record([{ ...message, at: '2026-01-01T09:00:00' }])
  assert.deepEqual((await readAll(statuses.pages, next)).records, [])
  assert.deepEqual(await statuses.recorder.read(message.ref), {
    summary: 'sent',
    statuses: [{ status: 'sent', at: message.at }],
  })
})

onSqlite('a time in the future is replaced by the present time', async (t, store) => {
  const statuses = await openStatuses(t, store)
  const message = sent()
  await add(statuses, message)
  await statuses.recorder.record([{ ...message, status: 'clicked', at: '2999-01-01T00:00:00' }])
  const [, clicked] = (await statuses.recorder.read(message.ref)).statuses
  assert.ok(Math.abs(Date.parse(`${clicked?.at}Z`) - Date.now()) < 60_000)
})

onSqlite('a step backwards is recorded and changes no summary', async (t, store) => {
  const statuses = await openStatuses(t, store)
  const message = sent()
  await add(statuses, message)
  const { brand, ref } = message
  await statuses.recorder.record([{ brand, ref, status: 'clicked', at: timestampOf(Date.now() + 5_000) }])
  await statuses.recorder.record([{ brand, ref, status: 'displayed', at: timestampOf(Date.now() + 1_000) }])
  const { summary, statuses: all } = await statuses.recorder.read(ref)
  assert.equal(summary, 'clicked')
  assert.deepEqual(
    all.map(({ status }) => status),
    ['sent', 'displayed', 'clicked'],
  )
})

onSqlite('an identifier of another user, another brand or nobody is reported, and not recorded', async (t, store) => {
  const statuses = await openStatuses(t, store)
  const [own, ofOther, ofBrand] = [sent(), sent({ userId: '1002' }), sent({ brand: '2' })]
  await add(statuses, own, ofOther, ofBrand)
  const refs = [own.ref, ofOther.ref, ofBrand.ref, 'nobody']
  const changes = refs.map((ref) => ({ brand: '1', ref, status: 'clicked' as const, at: own.at }))
  assert.deepEqual(await statuses.recorder.record(changes, '1001'), [ofOther.ref, ofBrand.ref, 'nobody'])
  assert.equal((await statuses.recorder.read(own.ref)).summary, 'clicked')
  for (const ref of [ofOther.ref, ofBrand.ref]) assert.equal((await statuses.recorder.read(ref)).summary, 'sent')
  assert.deepEqual(await statuses.recorder.record(changes), [ofBrand.ref, 'nobody'])
})

onEachEngine('a reader sees only its brands, and passes over any number of others', async (t, store) => {
  const statuses = await openStatuses(t, store)
  await add(statuses, ...Array.from({ length: 2_500 }, () => sent({ brand: '2' })))
  const own = sent()
  await add(statuses, own)
  const page = await statuses.pages.read(['1'], undefined, 10)
  assert.equal(page.restart === undefined && page.records.length, 1)
  assert.equal((await readAll(statuses.pages, undefined, ['2'])).records.length, 2_500)
  assert.equal((await readAll(statuses.pages, undefined, ['1', '2'], 999)).records.length, 2_501)
})

onSqlite(
  'the cursor of a brand without new statuses passes over those of others, so that it is not forgotten',
  async (t, store) => {
    const statuses = await openStatuses(t, store)
    await add(statuses, sent())
    const first = await readAll(statuses.pages)
    await add(statuses, sent({ brand: '2' }))
    const { next } = await readAll(statuses.pages, first.next)
    assert.notEqual(next, first.next)
    await forgetStatuses(statuses.database, Date.now() + 60_000)
    const own = sent()
    await add(statuses, own)
    assert.deepEqual(shown((await readAll(statuses.pages, next)).records), [`${own.ref} sent`])
  },
)

onSqlite('cursors that this database did not give are unknown', async (t, store) => {
  const statuses = await openStatuses(t, store)
  await add(statuses, sent())
  const { next } = await readAll(statuses.pages)
  for (const cursor of ['9.abc', `9${next}`, `${next}x`, 'abc', '0.1', '-1.a', `1.`, '1e3.a', '99999999999999999999.a'])
    assert.deepEqual(await statuses.pages.read(['1'], cursor, 10), { restart: '0.0' }, cursor)
})

onEachEngine(
  'after a backup was restored, a cursor of the time after the backup is unknown, and the restart skips nothing',
  async (t, store) => {
    const statuses = await openStatuses(t, store)
    const { database, recorder, pages } = statuses
    const [before, lost, later] = [sent(), sent(), sent()]
    await add(statuses, before)
    const kept = await readAll(pages)
    await add(statuses, lost)
    const { next } = await readAll(pages)
    // A restored backup has neither the lost status nor its number.
    for (const text of [
      `delete from statuses where ref = '${lost.ref}'`,
      `delete from status_messages where ref = '${lost.ref}'`,
      'delete from status_batches where last = 2',
      'update status_counter set last = 1',
    ])
      await run(database, text)
    assert.deepEqual(await pages.read(['1'], next, 10), { restart: '0.0' })
    assert.deepEqual(await readAll(pages, kept.next), { records: [], next: kept.next })
    await database.commit(recorder.firstOps([later]))
    // The number of the cursor exists again, but it belongs to another status.
    assert.deepEqual(shown((await readAll(pages, kept.next)).records), [`${later.ref} sent`])
    assert.deepEqual(await pages.read(['1'], next, 10), { restart: '0.0' })
    assert.deepEqual(shown((await readAll(pages, '0.0')).records), [`${before.ref} sent`, `${later.ref} sent`])
  },
)

onPostgres('a transaction that commits late loses no status, and delays no other', async (t, store) => {
  const statuses = await openStatuses(t, store)
  const [early, other] = [sent(), sent()]
  await add(statuses, early, other)
  const { next } = await readAll(statuses.pages)
  const { client: slow } = await openSession(store)
  await slow.query('begin')
  const values = `('${early.ref}', 'clicked', '1', '2026-01-01T10:00:00', 1)`
  await slow.query(`insert into statuses (ref, status, brand, at, recorded_at) values ${values}`)
  await statuses.recorder.record([{ ...other, status: 'clicked' }])
  const during = await readAll(statuses.pages, next)
  assert.deepEqual(shown(during.records), [`${other.ref} clicked`])
  await slow.query('commit')
  assert.deepEqual(shown((await readAll(statuses.pages, during.next)).records), [`${early.ref} clicked`])
})

onEachEngine(
  'retention forgets messages with their statuses; the cursor of an up-to-date reader stays valid',
  async (t, store) => {
    const statuses = await openStatuses(t, store)
    const old = sent({ ref: '01000000-0000-7000-8000-000000000001' })
    await add(statuses, old)
    const { next } = await readAll(statuses.pages)
    const cutoff = Date.now() + 60_000
    assert.equal(await forgetStatuses(statuses.database, Date.now() - 60_000), 1)
    assert.equal(await forgetStatuses(statuses.database, Date.now() - 60_000), 0)
    assert.deepEqual(await statuses.recorder.read(old.ref), { summary: undefined, statuses: [] })
    assert.deepEqual(await readAll(statuses.pages, next), { records: [], next })
    await forgetStatuses(statuses.database, cutoff)
    assert.deepEqual(await readAll(statuses.pages, next), { records: [], next })
    const fresh = sent()
    await add(statuses, fresh)
    assert.deepEqual(shown((await readAll(statuses.pages, next)).records), [`${fresh.ref} sent`])
  },
)

onSqlite('after erasure, the statuses of a user are returned without meta', async (t, store) => {
  const statuses = await openStatuses(t, store)
  const [mine, others] = [sent(), sent({ userId: '1002' })]
  await add(statuses, mine, others)
  const person = erasedPerson({ brand: '1', userId: '1001' }, 'secret', 0)
  await statuses.database.commit(statusPersonPart.eraseOps([mine.ref], person))
  const { records } = await readAll(statuses.pages)
  assert.deepEqual(
    records.map(({ meta }) => meta),
    [null, others.meta],
  )
})

function run(database: Database, text: string): Promise<unknown> {
  return database.commit([op(statement(text, {})`${text}`, [[]])])
}
