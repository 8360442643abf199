// A move of a brand meets stores that are away, settings that contradict it, and earlier moves.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { BrandMove } from '../../../src/base/queue/owners/brand-moves.ts'
import { planMove } from '../../../src/subjects/brands/move/plan-move.ts'
import { query, withoutPostgres } from '../../support/services/postgres.ts'
import { adminKey, elements, get, post } from '../../support/sides.ts'
import { holdTable, twoStores } from '../../support/two-stores.ts'
import { until } from '../../support/wait.ts'
import { after, before, move, rowsIn, runMove, startBrands, startMove } from './moving.ts'

const skip = await withoutPostgres()
const slow = { withinMs: 30_000 }
const ofBrand = (brand: number, n = 20) => elements(n, { brand_id: brand })
const enqueue = async (url: string, records: readonly object[]) =>
  (await post(`${url}/admin/activities/push`, records, adminKey.key)).status

const moveOf = (state: BrandMove['state'], other: number, id = 'm1'): BrandMove => ({
  brand: '2',
  move: id,
  state,
  other,
  at: 0,
})
const plans: readonly (readonly [string, number, readonly (readonly [number, BrandMove])[], string])[] = [
  ['never moved', 0, [], 'move 0'],
  ['killed before the commit', 0, [[0, moveOf('moving', 1)]], 'move 0'],
  ['killed around a commit that failed', 0, [[0, moveOf('committing', 1)]], 'move 0'],
  [
    'killed after the commit',
    0,
    [
      [0, moveOf('committing', 1)],
      [1, moveOf('received', 0)],
    ],
    'finish 0',
  ],
  [
    'moved, old settings',
    0,
    [
      [0, moveOf('moved', 1)],
      [1, moveOf('received', 0)],
    ],
    'finish 0',
  ],
  [
    'moved, new settings',
    1,
    [
      [0, moveOf('moved', 1)],
      [1, moveOf('received', 0)],
    ],
    'finish 0',
  ],
  [
    'moved back before',
    0,
    [
      [0, moveOf('received', 1, 'm2')],
      [1, moveOf('moved', 0, 'm2')],
    ],
    'move 0',
  ],
  ['in the target by the settings', 1, [], 'lives in store 1 already'],
  ['moved elsewhere', 0, [[0, moveOf('moved', 5)]], 'has moved from store 0 to store 5'],
  ['unknown whether moved elsewhere', 0, [[0, moveOf('committing', 5)]], 'repeat that command first'],
  ['moved to a database that was replaced', 0, [[0, moveOf('moved', 1)]], 'does not have it'],
]
for (const [title, home, moves, expected] of plans)
  test(`plan of a move to store 1: ${title}`, () => {
    const plan = planMove({ brand: '2', to: 1, home, moves: new Map(moves) })
    const text = 'refused' in plan ? plan.refused : `${plan.step} ${plan.source}`
    assert.ok(text.includes(expected), text)
  })

for (const lost of [0, 1] as const)
  test(`store ${lost} goes away while rows are copied: the brand stays in its store`, { skip }, async (t) => {
    const stores = await twoStores(t)
    const { url, provider } = await startBrands(t, stores, before(stores.schemas))
    await enqueue(url, ofBrand(2))
    await until(() => provider.received.length === 20, { awaited: 'the brand is delivered' })
    const held = await holdTable(stores, stores.schemas[1], 'crm_users')
    const moving = move(before(stores.urls))
    await held.reached()
    stores.proxies[lost].cut()
    await held.release()
    await assert.rejects(moving, lost === 0 ? /nothing was moved, but brand 2 is not served in store 0: repeat/ : /.+/)
    stores.proxies[lost].restore()
    assert.equal(await rowsIn(stores.schemas[1]), 0)
    if (lost === 1) {
      await until(async () => (await enqueue(url, ofBrand(2, 1))) === 200, { ...slow, awaited: 'it is served again' })
      await until(() => provider.received.length === 21, { ...slow, awaited: 'it is delivered' })
    }
    await until(
      () =>
        move(before(stores.urls)).then(
          () => true,
          () => false,
        ),
      { ...slow, awaited: 'it is moved' },
    )
    assert.equal(await rowsIn(stores.schemas[0]), 0)
    assert.ok((await rowsIn(stores.schemas[1])) > 0)
  })

test('the command is killed after the commit: the repetition deletes the old rows, with old or new settings', {
  skip,
}, async (t) => {
  const stores = await twoStores(t)
  const { url, provider, stop } = await startBrands(t, stores, before(stores.schemas))
  await enqueue(url, ofBrand(2))
  await until(() => provider.received.length === 20, { awaited: 'the brand is delivered' })
  await query(
    stores.schemas[0],
    `create function stall() returns trigger language plpgsql as $$ begin perform pg_sleep(600); return new; end $$;
     create trigger stall before update on brand_moves for each row when (new.state = 'moved') execute function stall()`,
  )
  const command = await startMove(t, before(stores.schemas))
  const stalled = `select pid from pg_stat_activity where application_name = 'bellwire move-brand' and wait_event = 'PgSleep'`
  const [backend] = await until(
    async () => {
      const rows = await query(stores.schemas[0], stalled)
      return rows.length > 0 && rows
    },
    { ...slow, awaited: 'the copy is committed' },
  )
  command.child.kill('SIGKILL')
  await command.ended
  await query(stores.schemas[0], `select pg_terminate_backend(${backend?.pid})`)
  await query(stores.schemas[0], 'drop trigger stall on brand_moves')
  assert.equal(await enqueue(url, ofBrand(2)), 503, 'the brand is not served in two stores')
  await stop()
  await assert.rejects(startBrands(t, stores, after(stores.schemas)), /brand 2 is being moved from store 0 to store 1/)

  assert.deepEqual(await move(after(stores.schemas)), ['deleting'])
  assert.equal(await rowsIn(stores.schemas[0]), 0)
  assert.deepEqual(await move(before(stores.schemas)), ['deleting'], 'it may be repeated with the old settings, too')
  const there = await startBrands(t, stores, after(stores.schemas), { provider })
  await enqueue(there.url, ofBrand(2))
  await until(() => provider.received.length === 40, { awaited: 'the brand is served' })
})

test('a platform whose settings contradict a move does not start', { skip }, async (t) => {
  const stores = await twoStores(t)
  const old = await startBrands(t, stores, before(stores.schemas))
  await post(`${old.url}/admin/lanes/pause`, { lane: '2/push', reason: 'test' }, adminKey.key)
  await enqueue(old.url, ofBrand(2))
  await old.stop()
  await assert.rejects(
    startBrands(t, stores, after(stores.schemas)),
    /leave brand 2 in store 0, and move it with: bellwire platform move-brand 2 --to 1/,
  )
  await move(before(stores.schemas))
  await assert.rejects(
    startBrands(t, stores, before(stores.schemas)),
    /brand 2 has moved from store 0 to store 1\n +list 2 in the brands of store 1/,
  )
  await assert.rejects(startBrands(t, stores, { store: stores.schemas[0] }), /brand 2 has moved from store 0/)
  await startBrands(t, stores, after(stores.schemas))
})

test('a brand moves back and forth, and its numbers stay in its order', { skip }, async (t) => {
  const stores = await twoStores(t)
  const both = [before(stores.schemas), after(stores.schemas)] as const
  let expected = 0
  for (const [at, to] of [
    [0, 1],
    [1, 0],
    [0, 1],
  ] as const) {
    const { url, provider, stop } = await startBrands(t, stores, both[at])
    assert.equal(await enqueue(url, ofBrand(2)), 200)
    await until(() => provider.received.length === 20, { awaited: 'the brand is served' })
    expected += 20
    const { messages } = (await get(`${url}/admin/messages?brand=2&user_id=1001&limit=100`)).body
    const ids = messages.map(({ id }: { id: string }) => Number(id))
    assert.deepEqual(
      ids,
      [...ids].sort((a, b) => b - a),
    )
    assert.equal(ids.length, expected)
    await stop()
    await move(both[at], { to })
    assert.equal(await rowsIn(stores.schemas[at]), 0)
    assert.equal(await rowsIn(stores.schemas[to], ['items']), expected)
  }
})

test('the command refuses a target that has rows of the brand, an unknown store, and a second command', {
  skip,
}, async (t) => {
  const stores = await twoStores(t)
  const settings = before(stores.schemas)
  const there = await startBrands(t, stores, after(stores.schemas))
  await enqueue(there.url, ofBrand(2, 1))
  await until(() => there.provider.received.length === 1, { awaited: 'it is delivered' })
  await there.stop()
  await assert.rejects(move(settings), /store 1 has rows of brand 2 already/)
  await assert.rejects(move(settings, { to: 9 }), /there is no store 9/)
  await assert.rejects(move(settings, { brand: '3' }), /brand 3 lives in store 1 already/)
  await assert.rejects(move({ store: 'sqlite:platform.db' }), /PostgreSQL databases only/)
  const held = await holdTable(stores, stores.schemas[0], 'crm_users')
  const first = move(settings, { brand: '3', to: 0 })
  await held.reached()
  await assert.rejects(move(settings, { brand: '1' }), /another command is moving a brand/)
  await held.release()
  await first
})

test('--preview counts the rows and changes nothing', { skip }, async (t) => {
  const stores = await twoStores(t)
  const { url, provider } = await startBrands(t, stores, before(stores.schemas))
  await enqueue(url, ofBrand(2))
  await until(() => provider.received.length === 20, { awaited: 'the brand is delivered' })
  const counted = await runMove(t, before(stores.schemas), '2', '--to', '1', '--preview')
  assert.equal(counted.code, 0, counted.err)
  assert.match(counted.out, /^items +20$/m)
  assert.doesNotMatch(counted.out, / 0$/m, 'a table without rows')
  assert.equal((await runMove(t, before(stores.schemas), '2', '--to', '1')).code, 2, 'not confirmed')
  assert.equal(await enqueue(url, ofBrand(2)), 200)
})
