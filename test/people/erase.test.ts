// POST /admin/people/erase of both sides: a job that leaves nothing of a user but digests.

import assert from 'node:assert/strict'
import { requestErasure } from '../../src/base/people/erasures.ts'
import { openDatabase } from '../../src/base/store/open-database.ts'
import { operatorMigrations } from '../../src/sides/operator/store.ts'
import { onEachEngine, onSqlite } from '../support/engines.ts'
import { erase, reportOf } from '../support/erase.ts'
import { adminKey, element, get, post, startOperator, startPlatform } from '../support/sides.ts'
import { assertGone, away, other, person, plantOperator, plantPlatform } from './planted.ts'

/** The export of the other user, without the export itself. */
const exportOther = async (url: string) => {
  const {
    exported_at: _,
    audit: __,
    crm_audit: ___,
    ...exported
  } = (await get(`${url}/admin/people/1/${other.userId}`)).body
  return exported
}

onEachEngine('an operator erases a user everywhere, and keeps all data of others', async (t, store) => {
  const { url, stop, repeat } = await plantOperator(t, store)
  const before = await exportOther(url)
  const first = (await repeat()).body
  const report = await erase(url, person.userId)
  assert.deepEqual(await exportOther(url), before)
  assert.ok(
    report.erased.messages === 4 && report.erased.inbox === 2 && report.erased.devices > 2,
    JSON.stringify(report),
  )
  assert.ok(report.erased.items > 0, 'links that waited to be published')
  assert.ok(
    report.kept.some(({ column, as }: { column: string; as: string }) => column === 'messages.key' && as === 'digest'),
  )
  const { messages, inbox, devices, items, erasures } = (await get(`${url}/admin/people/1/${person.userId}`)).body
  assert.deepEqual({ messages, inbox, devices, items }, { messages: [], inbox: [], devices: [], items: [] })
  assert.deepEqual(
    erasures.map(({ id, user_id, done_at: at }: Record<string, unknown>) => [id, user_id, typeof at]),
    [[report.id, null, 'number']],
  )
  // The messages of a user are still found by identifier, without their contents.
  const kept = (await get(`${url}/admin/messages/${first.successful[0].push_id}`)).body
  assert.ok(kept.user_id.startsWith('erased:') && kept.request.trim() === '', JSON.stringify(kept))

  // A repetition from before the erasure is answered as before, and brings nothing back.
  assert.deepEqual((await repeat()).body, first)
  // The questions of this test are in the audit trail.
  await erase(url, person.userId)
  await stop()
  await assertGone(store)
})

onEachEngine('a platform erases a user everywhere, and keeps all data of others', async (t, store) => {
  const { url, stop, enqueue, messagesOf, report: reportStatus } = await plantPlatform(t, store)
  const status = { channel: 'push', status: 'sent', timestamp: '2026-01-01T10:00:00Z' }
  const meta = { activity: { id: 1, brand_id: 1, user_id: person.userId } }
  const { ref } = (await messagesOf(person)).find((each: { ref?: string }) => each.ref !== undefined)
  await reportStatus({ ...status, push_id: ref, meta })
  const before = await exportOther(url)
  const report = await erase(url, person.userId)
  // A call is shared, and a message that waits has more attempts.
  const comparable = ({ items, ...rest }: { items: { category: string; calls: unknown }[] }) => ({
    ...rest,
    items: items.filter(({ category }) => category !== 'waiting').map(({ calls: _, ...item }) => item),
  })
  assert.deepEqual(comparable(await exportOther(url)), comparable(before))
  assert.deepEqual([report.erased.items, report.erased.attributes, report.waiting], [3, 1, 0], JSON.stringify(report))
  const parked = report.kept.find(({ column }: { column: string }) => column === 'items.text of parked records')
  assert.match(parked.why, /user or brand is not known.*deleted after keep/)
  assert.deepEqual(await messagesOf(person), [])
  assert.equal((await get(`${url}/admin/failed?user=${person.userId}`)).body.items.length, 0)

  // Records and statuses from before the erasure bring nothing back.
  const repeated = await enqueue([1, 2, 3].map((id) => element({ id, user_id: person.userId }, { title: person.text })))
  assert.deepEqual([repeated.body.new ?? repeated.body, repeated.status].at(-1), 200)
  assert.deepEqual(await messagesOf(person), [])
  await reportStatus({ ...status, status: 'delivered', push_id: ref, meta })
  const found = (await get(`${url}/admin/messages?ref=${encodeURIComponent(ref)}`)).body.messages
  assert.ok(found.some((each: { user_id: string; erased?: true }) => each.user_id.startsWith('erased:') && each.erased))
  // The questions of this test are in the audit trail.
  await erase(url, person.userId)
  await stop()
  await assertGone(store)
})

onSqlite('a user who returns after the erasure has new data', async (t, store) => {
  const { url, link, push } = await plantOperator(t, store)
  await erase(url, person.userId)
  const late = { brand: 1, user_id: person.userId, timestamp: '2026-01-01T10:00:00Z' }
  const tokens = [{ token: 'late-token-of-mary', provider: 'firebase', channel: 'android' }]
  await post(`${url}/admin/devices/link`, { ...late, tokens }, 'the-key-of-the-backend')
  const devices = async () => (await get(`${url}/admin/devices?brand=1&user_id=${person.userId}`)).body.devices
  assert.deepEqual(await devices(), [], 'the link is from before the erasure')
  await link(url, person, ['new-token-of-mary'])
  assert.equal((await devices()).length, 1)
  const sent = await push(element({ id: 99, user_id: person.userId }, { title: 'Welcome back' }))
  assert.equal(sent.status, 200)
  const exported = (await get(`${url}/admin/people/1/${person.userId}`)).body
  assert.equal(exported.messages.length, 1)
  const again = await erase(url, person.userId)
  assert.ok(again.erased.messages === 1 && again.erased.devices > 0, JSON.stringify(again))
})

onSqlite('an erasure ends although a lane of the user was removed from the configuration', async (t, store) => {
  await (await plantPlatform(t, store)).stop()
  const { url } = await startPlatform(t, { store, lanes: [], keys: [adminKey] })
  const report = await erase(url, person.userId)
  assert.deepEqual([report.erased.items, report.waiting], [3, 0])
})

onSqlite('an erasure goes on after a restart, and the eraser of the next process ends it', async (t, store) => {
  const first = await plantOperator(t, store)
  await first.stop()
  const database = await openDatabase(store, { migrations: operatorMigrations })
  const id = await requestErasure(database, person, 'a process that was killed')
  await database.close()
  const { url } = await startOperator(t, { store, publish: [{ brand: '1', publisher: away }] })
  const { erased } = await reportOf(url, id)
  assert.equal(erased.messages, 4)
  assert.ok(erased.items > 0)
})
