// Reconciliation over real sockets, on both engines: import, request, stream, compare, list.

import assert from 'node:assert/strict'
import test from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { metricsText } from '../../src/base/runtime/metrics.ts'
import type { ShownRun } from '../../src/sides/admin/shown/run.ts'
import { onEachEngine, onPostgres, onSqlite } from '../support/engines.ts'
import { type AnswerList, listOf, startListOperator } from '../support/list-operator.ts'
import { hourMs, passTime, setClock } from '../support/set-clock.ts'
import { adminKey, get, post } from '../support/sides.ts'
import { event, until } from '../support/wait.ts'
import { importLines, readDiscrepancies, runReconciliation, startReconciling } from './platform.ts'

const unusualIds = ['"quoted"', 'back\\slash', 'comma,and],"', 'ü', '😀', '日本語', 'x'.repeat(255)]

onEachEngine(
  'the differences of operator and CRM are found exactly, for each brand, the worse direction first',
  async (t, store) => {
    const lists: Record<string, readonly string[]> = {
      'the-key-of-brand-1': ['1001', '1002', 'only-operator', ...unusualIds, 'y'.repeat(10_000)],
      'the-key-of-brand-2': ['1001'],
    }
    const operator = await startListOperator(
      t,
      (response, { key }) => void response.end(listOf(lists[key ?? ''] ?? [])),
    )
    const { url } = await startReconciling(t, store, `${operator.url}/`)
    await importLines(url, '1', [
      { user_id: '1001', blocked: true, excluded: true },
      { user_id: '1002', blocked: false },
      { user_id: 'only-crm', blocked: true },
      ...unusualIds.slice(1).map((user_id) => ({ user_id, blocked: true })),
    ])
    await importLines(url, '2', [{ user_id: '1001', blocked: true }])

    const run = await runReconciliation(url, '1', 'blocked')
    assert.partialDeepStrictEqual(run, {
      state: 'done',
      ids: 4 + unusualIds.length,
      crm_users: 2 + unusualIds.length - 1,
      discrepancies: { critical: 4, high: 0, low: 1, operator_only: 4, crm_only: 1, too_recent: 0 },
      refused: null,
    })
    const found = await readDiscrepancies(url, run.run)
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
      (await runReconciliation(url, '2', 'blocked')).discrepancies?.critical,
      0,
      'user 1001 of brand 2 is another person',
    )
    assert.deepEqual(operator.asked[0], { field: 'blocked', key: 'the-key-of-brand-1', path: '/reconciliation' })

    // Pages, exports and the acknowledgement.
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
    const critical = 'bellwire_discrepancies{brand="1",field="blocked",severity="critical"}'
    assert.ok((await metricsText()).includes(`${critical} 4\n`))
    await post(`${path}/acknowledge`, {}, adminKey.key)
    assert.ok((await metricsText()).includes(`${critical} 0\n`), 'a person knows of them')
    assert.equal((await get(path)).body.acknowledged.by, 'admin')

    // The list of runs, newest first.
    await runReconciliation(url, '1', 'excluded')
    const { runs } = (await get(`${url}/admin/reconciliations?brand=1`)).body
    assert.deepEqual(
      runs.map((each: { field: string }) => each.field),
      ['excluded', 'blocked'],
    )
    assert.equal(
      (await get(`${url}/admin/reconciliations?brand=1&limit=1&after=${runs[0].run}`)).body.runs[0].run,
      run.run,
    )
  },
)

onSqlite(
  'changes of the CRM after the data, or within the grace time before, are too recent to judge',
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
      // The change of another attribute does not matter.
      { user_id: 'never', consent_sms: true, updated_at: at(+1) },
    ])
    const run = await runReconciliation(url, '1', 'blocked')
    assert.partialDeepStrictEqual(run.discrepancies, { critical: 2, low: 1, too_recent: 3 })
    assert.deepEqual(
      (await readDiscrepancies(url, run.run)).map(({ user_id }) => user_id),
      ['a', 'never', 'd'],
    )
  },
)

const answerWith =
  (users: readonly string[]): AnswerList =>
  (response) =>
    void response.end(listOf(users))
const createIds = (prefix: string, count: number): string[] => Array.from({ length: count }, (_, i) => `${prefix}${i}`)

onEachEngine('a list with a repeated id is refused', async (t, store) => {
  let users: readonly string[] = []
  const operator = await startListOperator(t, (response) => void response.end(listOf(users)))
  const { url } = await startReconciling(t, store, operator.url)
  await importLines(
    url,
    '1',
    createIds('u', 10).map((user_id) => ({ user_id, blocked: true })),
  )
  for (users of [
    ['u1', 'u2', 'u1'], // an id of the CRM
    ['x', 'u1', 'x'], // an id that the CRM does not have
    ['u"1', 'a', 'u"1'], // an id with an escape
  ]) {
    const run = await runReconciliation(url, '1', 'blocked')
    assert.equal(run.refused?.why, 'repeated')
    assert.ok(run.refused.detail.includes(JSON.stringify(users[0])), run.refused.detail)
    assert.equal(run.discrepancies, null)
    assert.deepEqual(await readDiscrepancies(url, run.run), [])
  }
  users = ['u1', 'u2']
  assert.equal((await runReconciliation(url, '1', 'blocked')).discrepancies?.low, 8)
})

onSqlite(
  'a list that is too small or too large, compared with the last list or the CRM, is refused unless any size is accepted',
  async (t, store) => {
    let users = createIds('u', 100)
    const operator = await startListOperator(t, (response) => void response.end(listOf(users)))
    const { url } = await startReconciling(t, store, operator.url, { limits: { slack: 5, shrink: 20, grow: 50 } })
    const first = await runReconciliation(url, '1', 'blocked')
    assert.deepEqual(
      [first.refused?.why, first.refused?.detail],
      [
        'grown',
        'it has more than 5 ids, and the CRM has none: import the CRM’s users first (bellwire attributes import), or accept this first list once with any size (--any-size)',
      ],
    )
    assert.equal((await runReconciliation(url, '1', 'blocked', true)).state, 'done')
    users = createIds('u', 150)
    assert.equal((await runReconciliation(url, '1', 'blocked')).state, 'done')
    users = createIds('u', 119)
    assert.deepEqual((await runReconciliation(url, '1', 'blocked')).refused?.why, 'shrunk')
    users = createIds('u', 226)
    assert.deepEqual((await runReconciliation(url, '1', 'blocked')).refused?.why, 'grown')
    users = createIds('u', 120)
    assert.equal(
      (await runReconciliation(url, '1', 'blocked')).state,
      'done',
      'compared with the last good list, not with a refused list',
    )
  },
)

test('501: a run without a source for the field ends as no_source', async (t) => {
  const operator = await startListOperator(t, (response) => void response.writeHead(501).end('{"error":"no source"}'))
  const { url } = await startReconciling(t, 'sqlite::memory:', operator.url)
  const run = await runReconciliation(url, '1', 'blocked')
  assert.deepEqual([run.state, run.refused, run.discrepancies], ['no_source', null, null])
})

test('a run of a brand or field that is not configured is refused', async (t) => {
  const operator = await startListOperator(t, answerWith([]))
  const { url } = await startReconciling(t, 'sqlite::memory:', operator.url)
  for (const [body, expected, words] of [
    [{ brand: '3', field: 'blocked' }, 404, /platform\.reconciliation/],
    [{ brand: '1', field: 'active' }, 404, /use blocked, excluded, consent_push_notification/],
    [{ brand: '1', field: 'colour' }, 400, /^field is "colour": give blocked, excluded, /],
  ] as const) {
    const { status, body: answer } = await post(`${url}/admin/reconciliations`, body, adminKey.key)
    assert.equal(status, expected)
    assert.match(answer.error, words)
  }
  assert.equal((await get(`${url}/admin/reconciliations/unknown`)).status, 404)
})

onSqlite('a due run is requested automatically and once, even after a restart', async (t, store) => {
  const operator = await startListOperator(t, answerWith([]))
  const over = { everyMs: 3_600_000, fields: ['blocked'] as const }
  const second = event('run.ended', ({ brand }) => brand === '2')
  const first = event('run.ended', ({ brand }) => brand === '1')
  const platform = await startReconciling(t, store, operator.url, over)
  await Promise.all([first, second])
  assert.equal(operator.asked.length, 2)
  const { runs } = (await get(`${platform.url}/admin/reconciliations`)).body
  assert.deepEqual(
    runs.map((each: { requested_by: string }) => each.requested_by),
    ['schedule', 'schedule'],
  )
  await platform.stop()
  const restarted = await startReconciling(t, store, operator.url, over)
  await runReconciliation(restarted.url, '1', 'blocked')
  assert.equal(operator.asked.length, 3, 'only the run that was requested now')
})

test('a run is due after its interval and once, although the clock is set back by three hours', async (t) => {
  const operator = await startListOperator(t, answerWith([]))
  const compared = ['1', '2'].map((name) => event('run.ended', ({ brand }) => brand === name))
  const { url } = await startReconciling(t, 'sqlite::memory:', operator.url, { everyMs: hourMs, fields: ['blocked'] })
  await Promise.all(compared)
  setClock(t, -3 * hourMs)
  const due = event('run.ended', ({ brand }) => brand === '2')
  const late = Symbol('late')
  // A loop that reads its finished run only after this hour waits for another one. The request wakes the loops of all brands.
  for (let ended: unknown = late; ended === late; ) {
    passTime(t, hourMs)
    await runReconciliation(url, '1', 'blocked')
    ended = await Promise.race([due, sleep(3_000, late)])
  }
  await runReconciliation(url, '1', 'blocked')
  assert.equal(operator.asked.filter(({ key }) => key === 'the-key-of-brand-2').length, 2)
})

onPostgres('of two platforms on one database, one executes each run', async (t, store) => {
  const operator = await startListOperator(t, answerWith(['1001']))
  const over = { everyMs: 3_600_000, fields: ['blocked', 'excluded'] as const }
  const platforms = await Promise.all([0, 1].map(() => startReconciling(t, store, operator.url, over)))
  const [first, second] = platforms.map(({ url }) => url) as [string, string]
  const scheduled = async () => (await get(`${second}/admin/reconciliations`)).body.runs as ShownRun[]
  await until(async () => (await scheduled()).filter(({ state }) => state === 'done').length === 4, {
    awaited: '4 runs',
  })
  const requests = () => operator.asked.map(({ key, field }) => `${key} ${field}`).toSorted()
  assert.equal(new Set(requests()).size, 4)
  assert.equal(requests().length, 4)
  // Either platform may receive the request, and either may execute the run.
  await Promise.all([
    runReconciliation(first, '1', 'blocked'),
    runReconciliation(second, '1', 'excluded'),
    runReconciliation(second, '2', 'blocked'),
  ])
  assert.equal(requests().length, 7)
  assert.equal((await scheduled()).filter(({ state }) => state === 'done').length, 7)
})

test('a request for a field with an open run returns this run', async (t) => {
  const release = Promise.withResolvers<void>()
  const operator = await startListOperator(t, async (response) => {
    await release.promise
    response.end(listOf([]))
  })
  const { url } = await startReconciling(t, 'sqlite::memory:', operator.url)
  const requestRun = () => post(`${url}/admin/reconciliations`, { brand: '1', field: 'blocked' }, adminKey.key)
  const [one, two] = [(await requestRun()).body, (await requestRun()).body]
  assert.deepEqual([one.run, one.fresh, two.fresh], [two.run, true, false])
  release.resolve()
  assert.equal((await runReconciliation(url, '1', 'blocked')).state, 'done')
})
