// A brand is moved to another database while operators serve it and other brands.

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { type MovePhase, openBrandMover } from '../../../src/brands/move/move-brand.ts'
import type { OperatorOptions } from '../../../src/operator/options.ts'
import { operatorMigrations, operatorStores } from '../../../src/operator/stores.ts'
import { on } from '../../../src/runtime/events.ts'
import { start as startCommand } from '../../cli/bellwire.ts'
import { query, withoutPostgres } from '../../support/services/postgres.ts'
import { element, get, keys, post, temporary, type Witness, witness } from '../../support/sides.ts'
import { compareTables, holdTable, repeat, type TwoStores, twoStores } from '../../support/two-stores.ts'
import { event, until } from '../../support/wait.ts'
import { admin, asUser, divided, pollAll, sendBatch, start } from './several-stores.ts'

const skip = await withoutPostgres()
const slow = { withinMs: 30_000 }
const attemptMs = 60_000
const ofBrand = (brand: number, n = 10) => Array.from({ length: n }, () => element({ brand_id: brand }))
const sentOf = ({ received }: Witness, brand: string): string[] =>
  received.filter((message) => message.brand === brand).map(({ id }) => id)

type Settings = Pick<OperatorOptions, 'store' | 'stores'>
/** Both brands live in store 0, and store 1 is empty. */
const before = ([store, url]: TwoStores['urls']): Settings => ({ store, stores: [{ number: 1, url, brands: [] }] })

/** Moves brand 2 in this process. @returns the phases */
async function move(settings: Settings, { to = 1, within = attemptMs } = {}): Promise<MovePhase[]> {
  const phases: MovePhase[] = []
  const mover = await openBrandMover({ side: 'operator', stores: operatorStores(settings), attemptMs: within }, '2', to)
  try {
    await mover.move((phase) => phases.push(phase), AbortSignal.timeout(60_000))
    return phases
  } finally {
    await mover.close()
  }
}

/** Sends batches of a brand as a platform does, until it is stopped: a message that is not successful is sent again. */
function feed(stores: TwoStores, urlOf: () => string, brand: number) {
  const delivered = new Set<string>()
  const stop = repeat(stores, async () => {
    const batch = ofBrand(brand, 3)
    const accepted = async () => {
      const answer = await sendBatch(urlOf(), 'push', batch).catch(() => undefined)
      const successful: { id: number }[] = answer?.body?.successful ?? []
      for (const { id } of successful) delivered.add(String(id))
      return successful.length === batch.length
    }
    await until(accepted, { ...slow, awaited: `messages of brand ${brand} are delivered` })
  })
  return { delivered, stop }
}

/** Tables that a move leaves alone, because their rows belong to processes or to the database itself. */
const notMoved = [
  'brand_moves',
  'lane_owners',
  'lane_processes',
  'migrations',
  'removal_brakes',
  'removal_tallies',
  'status_batches',
  'status_counter',
]

test('the command knows every table of an operator', { skip }, async () => {
  const { found, described } = await compareTables(operatorMigrations, notMoved)
  assert.deepEqual(found, described, 'add the new table to brandTables of its migration (src/store/brand-table.ts)')
})

test('each message of both brands is delivered once while one brand moves and the operator is replaced', {
  skip,
}, async (t) => {
  const stores = await twoStores(t)
  const provider = witness()
  const old = await start(t, stores, { ...before(stores.schemas), provider })
  let { url } = old
  const feeds = [1, 2].map((brand) => feed(stores, () => url, brand))
  await until(() => sentOf(provider, '2').length > 50, { awaited: 'traffic' })
  const held = await holdTable(stores, stores.schemas[1], 'devices')
  const moving = move(before(stores.schemas))
  await held.reached()

  const [ofOne, stopped] = [sentOf(provider, '1').length, sentOf(provider, '2').length]
  await until(() => sentOf(provider, '1').length > ofOne + 50, { awaited: 'the other brand goes on' })
  assert.equal(sentOf(provider, '2').length, stopped, 'no message of the brand is sent')
  const refused = (await sendBatch(old.url, 'push', ofBrand(2, 2))).body
  assert.equal(refused.fatal.length, 2, 'the platform sends its messages again later')
  assert.ok((await pollAll(old.url)).records.length > 0, 'statuses of the other brand are polled')

  await held.release()
  assert.deepEqual((await moving).slice(0, 2), ['draining', 'freezing'])
  const replacement = await start(t, stores, { ...divided(stores.schemas), provider })
  url = replacement.url
  await old.stop()
  await until(() => sentOf(provider, '2').length > stopped + 50, { ...slow, awaited: 'the brand goes on' })
  for (const each of feeds) await each.stop()
  for (const [i, { delivered }] of feeds.entries())
    assert.deepEqual(sentOf(provider, String(i + 1)).sort(), [...delivered].sort(), 'each once')
  assert.deepEqual(await query(stores.schemas[0], `select 1 from messages where brand = '2'`), [])
})

test('sends in flight are settled before the rows are copied, and a repetition gets their identifiers', {
  skip,
}, async (t) => {
  const stores = await twoStores(t)
  const called = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<void>()
  const batch = ofBrand(2, 5)
  const held = new Set(batch.map(({ activity }) => String(activity.id)))
  const provider = witness(async ({ id, ref }) => {
    if (held.has(id)) {
      called.resolve()
      await answer.promise
    }
    return { category: 'successful', ref, rule: 'accepted' }
  })
  const old = await start(t, stores, { ...before(stores.schemas), provider })
  const sending = sendBatch(old.url, 'push', batch)
  await called.promise
  let moved = false
  const noticed = event('brand.moving')
  const moving = move(before(stores.schemas)).then(() => {
    moved = true
  })
  await noticed
  const fatal = async () => (await sendBatch(old.url, 'push', ofBrand(2, 1))).body.fatal.length === 1
  await until(fatal, { awaited: 'new messages of the brand are refused' })
  assert.equal(moved, false, 'the command waits for the sends in flight')
  answer.resolve()
  const first = (await sending).body
  assert.equal(first.successful.length, 5, 'their outcome is stored and answered')
  await moving

  const { url } = await start(t, stores, { ...divided(stores.schemas), provider })
  assert.deepEqual((await sendBatch(url, 'push', batch)).body, first)
  assert.equal(new Set(provider.received.map(({ id }) => id)).size, provider.received.length, 'none is sent twice')
  assert.equal((await sendBatch(old.url, 'push', ofBrand(2, 1))).body.fatal.length, 1, 'the old settings: fatal')
})

test('a message whose process died in flight does not hold up the move, and its next attempt counts as uncertain', {
  skip,
}, async (t) => {
  const stores = await twoStores(t)
  const { url } = await start(t, stores, before(stores.schemas))
  const [lost, late] = [element({ brand_id: 2 }), element({ brand_id: 2 })]
  const sent = (await sendBatch(url, 'push', [lost, late])).body.successful
  const [ofLost, ofLate] = sent.map(({ push_id: ref }: { push_id: string }) => ref)
  await query(
    stores.schemas[0],
    `update messages set state = 'in_flight', owner = 'a-process-that-died' where ref = '${ofLost}'`,
  )
  // The owner lives, but its settle was lost: the attempt is older than any attempt can last.
  await query(stores.schemas[0], `update messages set state = 'in_flight', updated_at = 1 where ref = '${ofLate}'`)
  await move(before(stores.schemas), { within: 5_000 })
  const there = await start(t, stores, divided(stores.schemas))
  const again = (await sendBatch(there.url, 'push', [lost, late])).body.successful
  assert.deepEqual(
    again.map(({ push_id: ref }: { push_id: string }) => ref),
    [ofLost, ofLate],
  )
  for (const ref of [ofLost, ofLate]) assert.equal((await get(`${there.url}/admin/messages/${ref}`)).body.uncertain, 1)
})

test('a notification that expires while its brand is moved delays no expiry of another brand', { skip }, async (t) => {
  const stores = await twoStores(t)
  const old = await start(t, stores, before(stores.schemas))
  const expiresAt = new Date(Date.now() + 3_000).toISOString()
  const batch = [1, 2].map((brand) => element({ brand_id: brand }, { expires_at: expiresAt }))
  const { successful } = (await sendBatch(old.url, 'site', batch)).body
  const [ofOne, ofTwo] = successful.map((each: { site_notification_id: string }) => each.site_notification_id)
  const expiredIn = async (url: string) =>
    (await pollAll(url)).records.filter(({ status }) => status === 'expired').map(({ ref }) => ref)
  const held = await holdTable(stores, stores.schemas[1], 'devices')
  const moving = move(before(stores.schemas))
  await held.reached()
  await until(async () => (await expiredIn(old.url)).length > 0, { ...slow, awaited: 'the expiry of brand 1' })
  assert.deepEqual(await expiredIn(old.url), [ofOne])
  await held.release()
  await moving
  await old.stop()
  const { url } = await start(t, stores, divided(stores.schemas))
  await until(async () => (await expiredIn(url)).includes(ofTwo), { ...slow, awaited: 'the expiry of brand 2' })
})

test('messages, statuses, devices and the inbox are found in the new store', { skip }, async (t) => {
  const stores = await twoStores(t)
  const old = await start(t, stores, before(stores.schemas))
  const batch = ofBrand(2, 4)
  const { successful } = (await sendBatch(old.url, 'push', batch)).body
  const ref = successful[0].push_id
  await sendBatch(old.url, 'site', ofBrand(2, 3))
  const headers = await asUser('2')
  const inboxOf = async (url: string) =>
    ((await (await fetch(`${url}/app/inbox`, { headers })).json()) as { items: Record<string, unknown>[] }).items
  const [first] = await inboxOf(old.url)
  const marked = { as: 'clicked', site_notification_ids: [first?.site_notification_id] }
  await post(`${old.url}/app/inbox/mark`, marked, undefined, headers)
  const tokens = [{ token: 'a', channel: 'android', provider: 'firebase' }]
  await post(`${old.url}/admin/devices/link`, { brand: '2', user_id: '1001', tokens }, admin.key)
  const shownBefore = (await get(`${old.url}/admin/messages/${ref}`)).body
  const inboxBefore = await inboxOf(old.url)
  const polledBefore = await pollAll(old.url)
  const summaryBefore = (await get(`${old.url}/admin/summary`)).body.brands[2]
  // A status that no platform has read yet.
  await old.statusesOf().record([{ brand: '2', ref, status: 'displayed', at: '2026-01-01T10:00:00' as never }])

  const moved = event('brand.moved')
  await move(before(stores.schemas))
  await moved
  const gone = async (path: string) => (await get(`${old.url}/admin/${path}`)).status === 503
  await until(() => gone('messages?brand=2&user_id=1001'), { awaited: 'the old settings are noticed' })
  assert.equal((await fetch(`${old.url}/app/inbox`, { headers })).status, 503, 'not an empty inbox')
  await assert.rejects(start(t, stores, before(stores.schemas)), /list 2 in the brands of store 1/)

  const { url, statusesOf } = await start(t, stores, divided(stores.schemas))
  const shown = (await get(`${url}/admin/messages/${ref}`)).body
  assert.deepEqual({ ...shown, status: 0, statuses: 0 }, { ...shownBefore, status: 0, statuses: 0 })
  assert.deepEqual([shown.status, shown.statuses.length], ['displayed', 2])
  assert.deepEqual(await inboxOf(url), inboxBefore)
  assert.equal((await get(`${url}/admin/devices?brand=2&user_id=1001`, admin.key)).body.devices.length, 1)
  assert.deepEqual((await get(`${url}/admin/summary`)).body.brands[2], summaryBefore)
  const key = ({ ref: of, status }: { ref?: unknown; status?: unknown }): string => `${of} ${status}`
  const polled = await pollAll(url, polledBefore.next)
  const found = new Set([...polledBefore.records, ...polled.records].map(key))
  assert.ok(found.has(`${ref} displayed`), 'a status that was not read before the move is read after it')
  assert.ok(polledBefore.records.every((record) => found.has(key(record))))
  await statusesOf().record([{ brand: '2', ref, status: 'clicked', at: '2026-01-01T10:00:01' as never }])
  assert.deepEqual((await pollAll(url, polled.next)).records.map(key), [`${ref} clicked`])

  await old.stop()
  const back = { store: stores.schemas[0], stores: [{ number: 1, url: stores.schemas[1], brands: ['2'] }] }
  await move(back, { to: 0 })
  const home = await start(t, stores, before(stores.schemas))
  assert.deepEqual((await sendBatch(home.url, 'push', batch)).body.successful, successful, 'moved back')
})

test('a process with the old settings polls past no status of the brand that has moved', { skip }, async (t) => {
  const stores = await twoStores(t)
  const [store, url] = stores.schemas
  const settings = (brands: string[]) => ({ store, stores: [{ number: 1, url, brands }] })
  const key = { ...keys.both, brands: ['1', '2', '3'] }
  const old = await start(t, stores, { ...settings(['3']), keys: [key] })
  await sendBatch(old.url, 'push', [element(), element({ brand_id: 3 })])
  const first = await pollAll(old.url)
  const { successful } = (await sendBatch(old.url, 'push', [element({ brand_id: 2 })])).body
  const moved = event('brand.moved')
  await move(settings(['3']))
  await moved
  const polled = await pollAll(old.url, first.next)
  const warned: unknown[] = []
  t.after(on('brand.moved', (each) => void warned.push(each)))
  const { url: there } = await start(t, stores, { ...settings(['2', '3']), keys: [key] })
  const late = await pollAll(there, polled.next)
  const refs = [...polled.records, ...late.records].map(({ ref }) => ref)
  assert.ok(refs.includes(successful[0].push_id))
  assert.deepEqual(warned, [], 'the new settings are right')
})

test('a text is not erased while it is copied', { skip }, async (t) => {
  const stores = await twoStores(t)
  const { url } = await start(t, stores, { ...before(stores.schemas), status: undefined as never })
  await sendBatch(url, 'push', ofBrand(2, 1))
  const held = await holdTable(stores, stores.schemas[1], 'devices')
  const moving = move(before(stores.schemas))
  await held.reached()
  const erased = await post(`${url}/admin/messages/erase`, { brand: '2', user_id: '1001' }, admin.key)
  assert.equal(erased.status, 503, 'the copy would still have the text')
  await held.release()
  await moving
})

test('bellwire operator move-brand counts, moves, and names the next step', { skip }, async (t) => {
  const stores = await twoStores(t)
  const { url, stop } = await start(t, stores, before(stores.schemas))
  await sendBatch(url, 'push', ofBrand(2, 4))
  await stop()
  const file = join(await temporary(t), 'bellwire.json')
  const key = { name: 'platform', key: 'a-key-of-the-platform', brands: ['1', '2'] }
  const operator = { ...before(stores.schemas), keys: [key], suppression: 'none', push: { provider: 'recording' } }
  await writeFile(file, JSON.stringify({ operator }))
  const run = async (...args: string[]) =>
    (await startCommand(t, ['operator', 'move-brand', '2', ...args, '--config', file])).ended
  const preview = await run('--to', '1', '--preview', '--json')
  assert.equal(preview.code, 0, preview.err)
  assert.equal(JSON.parse(preview.out).tables.find((each: { table: string }) => each.table === 'messages').rows, 4)
  const moved = await run('--to', '1', '--yes')
  assert.equal(moved.code, 0, moved.err)
  assert.match(moved.out, /list 2 in the brands of store 1 in operator\.stores, and restart the operator processes/)
  assert.match((await run('--to', '3', '--yes')).err, /there is no store 3: add it to operator\.stores/)
})
