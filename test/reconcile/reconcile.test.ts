// The whole way over real sockets, on both engines: import, ask, stream, compare, find.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { ShownRun } from '../../src/reconcile/shown-run.ts'
import { onEachEngine, onPostgres } from '../support/engines.ts'
import { type AnswerList, listOf, startListOperator } from '../support/list-operator.ts'
import { adminKey, get, post } from '../support/sides.ts'
import { event, until } from '../support/wait.ts'
import { foundBy, importLines, runTo, startReconciling } from './platform.ts'

const odd = ['"quoted"', 'back\\slash', 'comma,and],"', 'ü', '😀', '日本語', 'x'.repeat(255)]

onEachEngine('what operator and CRM say differently is found exactly, by brand, the worst first', async (t, store) => {
  const lists: Record<string, readonly string[]> = {
    'the-key-of-brand-1': ['1001', '1002', 'only-operator', ...odd, 'y'.repeat(10_000)],
    'the-key-of-brand-2': ['1001'],
  }
  const operator = await startListOperator(t, (response, { key }) => void response.end(listOf(lists[key ?? ''] ?? [])))
  const { url } = await startReconciling(t, store, `${operator.url}/`)
  await importLines(url, '1', [
    { user_id: '1001', blocked: true, excluded: true },
    { user_id: '1002', blocked: false },
    { user_id: 'only-crm', blocked: true },
    ...odd.slice(1).map((user_id) => ({ user_id, blocked: true })),
  ])
  await importLines(url, '2', [{ user_id: '1001', blocked: true }])

  const run = await runTo(url, '1', 'blocked')
  assert.partialDeepStrictEqual(run, {
    state: 'done',
    ids: 4 + odd.length,
    crm_users: 2 + odd.length - 1,
    discrepancies: { critical: 4, high: 0, low: 1, operator_only: 4, crm_only: 1, too_recent: 0 },
    refused: null,
  })
  const found = await foundBy(url, run.run)
  assert.deepEqual(
    found.map(({ user_id, direction, severity }) => [user_id, direction, severity]),
    [
      ['"quoted"', 'operator_only', 'critical'],
      ['1002', 'operator_only', 'critical'],
      ['only-operator', 'operator_only', 'critical'],
      ['y'.repeat(10_000), 'operator_only', 'critical'],
      ['only-crm', 'crm_only', 'low'],
    ],
  )
  assert.deepEqual(
    (await runTo(url, '2', 'blocked')).discrepancies?.critical,
    0,
    'user 1001 of brand 2 is another person',
  )
  assert.deepEqual(operator.asked[0], { field: 'blocked', key: 'the-key-of-brand-1', path: '/reconciliation' })

  // Pages, exports and acknowledging.
  const path = `${url}/admin/reconciliations/${run.run}`
  const first = (await get(`${path}/discrepancies?limit=2`)).body
  const rest = (await get(`${path}/discrepancies?limit=10&after=${first.next}`)).body
  assert.deepEqual([...first.discrepancies, ...rest.discrepancies], found)
  assert.equal(rest.next, null)
  const lines = await (await fetch(`${path}/export`, { headers: { 'x-api-key': adminKey.key } })).text()
  assert.deepEqual(
    lines
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
    found,
  )
  const csv = await (await fetch(`${path}/export?format=csv`, { headers: { 'x-api-key': adminKey.key } })).text()
  assert.match(
    csv,
    /^user_id,field,direction,severity,crm_changed_at,correction,note\n"""quoted""",blocked,operator_only,critical,,,\n/,
  )
  await post(`${path}/acknowledge`, {}, adminKey.key)
  assert.equal((await get(path)).body.acknowledged.by, 'admin')

  // History, newest first.
  await runTo(url, '1', 'excluded')
  const { runs } = (await get(`${url}/admin/reconciliations?brand=1`)).body
  assert.deepEqual(
    runs.map((each: { field: string }) => each.field),
    ['excluded', 'blocked'],
  )
  assert.equal(
    (await get(`${url}/admin/reconciliations?brand=1&limit=1&after=${runs[0].run}`)).body.runs[0].run,
    run.run,
  )
})

onEachEngine(
  'what the CRM changed within the grace before the data, or after it, is too recent to judge',
  async (t, store) => {
    const dataAt = new Date(Date.now() - 3_600_000)
    const operator = await startListOperator(
      t,
      (response) => void response.end(listOf(['a', 'b', 'c', 'never'], dataAt)),
    )
    const { url } = await startReconciling(t, store, operator.url, { graceMs: 60_000 })
    const at = (ms: number): string => new Date(dataAt.getTime() + ms).toISOString()
    await importLines(url, '1', [
      { user_id: 'a', blocked: false, updated_at: at(-61_000) },
      { user_id: 'b', blocked: false, updated_at: at(-59_000) },
      { user_id: 'c', blocked: false, updated_at: at(+59_000) },
      { user_id: 'd', blocked: true, updated_at: at(-61_000) },
      { user_id: 'e', blocked: true, updated_at: at(-59_000) },
      // Another attribute's change is no reason to wait.
      { user_id: 'never', consent_sms: true, updated_at: at(+1) },
    ])
    const run = await runTo(url, '1', 'blocked')
    assert.partialDeepStrictEqual(run.discrepancies, { critical: 2, low: 1, too_recent: 3 })
    assert.deepEqual(
      (await foundBy(url, run.run)).map(({ user_id }) => user_id),
      ['a', 'never', 'd'],
    )
  },
)

const fine =
  (users: readonly string[]): AnswerList =>
  (response) =>
    void response.end(listOf(users))
const many = (prefix: string, count: number): string[] => Array.from({ length: count }, (_, i) => `${prefix}${i}`)

onEachEngine('duplicates are refused, wherever they stand', async (t, store) => {
  let users: readonly string[] = []
  const operator = await startListOperator(t, (response) => void response.end(listOf(users)))
  const { url } = await startReconciling(t, store, operator.url)
  await importLines(
    url,
    '1',
    many('u', 10).map((user_id) => ({ user_id, blocked: true })),
  )
  for (users of [
    ['u1', 'u2', 'u1'], // known to the CRM
    ['x', 'u1', 'x'], // not known
    ['u"1', 'a', 'u"1'], // escaped
  ]) {
    const run = await runTo(url, '1', 'blocked')
    assert.equal(run.refused?.why, 'repeated')
    assert.ok(run.refused.particulars.includes(JSON.stringify(users[0])), run.refused.particulars)
    assert.equal(run.discrepancies, null)
    assert.deepEqual(await foundBy(url, run.run), [])
  }
  users = ['u1', 'u2']
  assert.equal((await runTo(url, '1', 'blocked')).discrepancies?.low, 8)
})

onEachEngine(
  'a list that shrank or grew beyond the limits is refused, against the last one or the CRM, unless any size is meant',
  async (t, store) => {
    let users = many('u', 100)
    const operator = await startListOperator(t, (response) => void response.end(listOf(users)))
    const { url } = await startReconciling(t, store, operator.url, { limits: { slack: 5, shrink: 20, grow: 50 } })
    const first = await runTo(url, '1', 'blocked')
    assert.deepEqual(
      [first.refused?.why, first.refused?.particulars],
      [
        'grown',
        'it has more than 5 ids, and the CRM has none: import the CRM’s users first (bellwire attributes import), or accept this first list once',
      ],
    )
    assert.equal((await runTo(url, '1', 'blocked', true)).state, 'done')
    users = many('u', 150)
    assert.equal((await runTo(url, '1', 'blocked')).state, 'done')
    users = many('u', 119)
    assert.deepEqual((await runTo(url, '1', 'blocked')).refused?.why, 'shrunk')
    users = many('u', 226)
    assert.deepEqual((await runTo(url, '1', 'blocked')).refused?.why, 'grown')
    users = many('u', 120)
    assert.equal(
      (await runTo(url, '1', 'blocked')).state,
      'done',
      'measured against the last good one, not against what was refused',
    )
  },
)

test('501: the operator has no source for the field, which is a result of its own', async (t) => {
  const operator = await startListOperator(t, (response) => void response.writeHead(501).end('{"error":"no source"}'))
  const { url } = await startReconciling(t, 'sqlite::memory:', operator.url)
  const run = await runTo(url, '1', 'blocked')
  assert.deepEqual([run.state, run.refused, run.discrepancies], ['no_source', null, null])
})

test('nothing is asked that is not configured, and keys see only their brands', async (t) => {
  const operator = await startListOperator(t, fine([]))
  const { url } = await startReconciling(t, 'sqlite::memory:', operator.url)
  for (const [body, expected, words] of [
    [{ brand: '3', field: 'blocked' }, 404, /platform\.reconciliation/],
    [{ brand: '1', field: 'active' }, 404, /there are blocked, excluded, consent_push_notification/],
    [{ brand: '1', field: 'colour' }, 400, /^field is "colour": give blocked, excluded, /],
  ] as const) {
    const { status, body: answer } = await post(`${url}/admin/reconciliations`, body, adminKey.key)
    assert.equal(status, expected)
    assert.match(answer.error, words)
  }
  assert.equal((await get(`${url}/admin/reconciliations/unknown`)).status, 404)
})

onEachEngine('runs that are due are asked for by themselves, once, also after a restart', async (t, store) => {
  const operator = await startListOperator(t, fine([]))
  const over = { everyMs: 3_600_000, fields: ['blocked'] as const }
  const both = event('crm.compared', ({ brand }) => brand === '2')
  const first = event('crm.compared', ({ brand }) => brand === '1')
  const platform = await startReconciling(t, store, operator.url, over)
  await Promise.all([first, both])
  assert.equal(operator.asked.length, 2)
  const { runs } = (await get(`${platform.url}/admin/reconciliations`)).body
  assert.deepEqual(
    runs.map((each: { asked_by: string }) => each.asked_by),
    ['schedule', 'schedule'],
  )
  await platform.stop()
  const again = await startReconciling(t, store, operator.url, over)
  await runTo(again.url, '1', 'blocked')
  assert.equal(operator.asked.length, 3, 'only the one that was asked for now')
})

onPostgres('of two platforms on one database one carries out each run', async (t, store) => {
  const operator = await startListOperator(t, fine(['1001']))
  const over = { everyMs: 3_600_000, fields: ['blocked', 'excluded'] as const }
  const platforms = await Promise.all([0, 1].map(() => startReconciling(t, store, operator.url, over)))
  const [first, second] = platforms.map(({ url }) => url) as [string, string]
  const scheduled = async () => (await get(`${second}/admin/reconciliations`)).body.runs as ShownRun[]
  await until(async () => (await scheduled()).filter(({ state }) => state === 'done').length === 4, { what: '4 runs' })
  const asked = () => operator.asked.map(({ key, field }) => `${key} ${field}`).toSorted()
  assert.equal(new Set(asked()).size, 4)
  assert.equal(asked().length, 4)
  // Whoever is asked, whoever carries it out.
  await Promise.all([runTo(first, '1', 'blocked'), runTo(second, '1', 'excluded'), runTo(second, '2', 'blocked')])
  assert.equal(asked().length, 7)
  assert.equal((await scheduled()).filter(({ state }) => state === 'done').length, 7)
})

test('a run that is under way is not asked for twice', async (t) => {
  const hold = Promise.withResolvers<void>()
  const operator = await startListOperator(t, async (response) => {
    await hold.promise
    response.end(listOf([]))
  })
  const { url } = await startReconciling(t, 'sqlite::memory:', operator.url)
  const ask = () => post(`${url}/admin/reconciliations`, { brand: '1', field: 'blocked' }, adminKey.key)
  const [one, two] = [(await ask()).body, (await ask()).body]
  assert.deepEqual([one.run, one.fresh, two.fresh], [two.run, true, false])
  hold.resolve()
  assert.equal((await runTo(url, '1', 'blocked')).state, 'done')
})
