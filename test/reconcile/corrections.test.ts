import assert from 'node:assert/strict'
import test from 'node:test'
import { on } from '../../src/base/runtime/events.ts'
import { reconciliationFields } from '../../src/contract/records.ts'
import { correctionKindOf, severityOf, worstDirection } from '../../src/subjects/reconcile/severity.ts'
import { onEachEngine, onSqlite } from '../support/engines.ts'
import { listOf, startListOperator } from '../support/list-operator.ts'
import { adminKey, get, post } from '../support/sides.ts'
import { importLines, readDiscrepancies, runReconciliation, startReconciling } from './platform.ts'

test('the severity and the correction kind of each direction, for all nine fields', () => {
  for (const field of reconciliationFields) {
    const isProhibition = field === 'blocked' || field === 'excluded'
    assert.equal(severityOf(field, 'operator_only'), isProhibition ? 'critical' : 'low', field)
    assert.equal(severityOf(field, 'crm_only'), isProhibition ? 'low' : 'high', field)
    assert.equal(worstDirection(field), isProhibition ? 'operator_only' : 'crm_only', field)
    assert.equal(correctionKindOf(field, 'operator_only'), isProhibition ? 'tighten' : 'loosen', field)
    assert.equal(correctionKindOf(field, 'crm_only'), isProhibition ? 'loosen' : 'tighten', field)
  }
})

onEachEngine(
  'a correction changes only values that have not changed since, and creates only its audit record',
  async (t, store) => {
    const operator = await startListOperator(t, (response, { field }) => {
      response.end(listOf(field === 'blocked' ? ['a', 'b', 'c', 'unknown', 'y'.repeat(300)] : ['kept']))
    })
    const { url } = await startReconciling(t, store, operator.url)
    await importLines(url, '1', [
      { user_id: 'a', blocked: false },
      { user_id: 'b', excluded: true },
      { user_id: 'c', blocked: false },
      { user_id: 'free', blocked: true },
      { user_id: 'kept', consent_push_notification: true },
      { user_id: 'withdrawn', consent_push_notification: true },
    ])
    await importLines(url, '2', [{ user_id: 'a', blocked: false }])
    const attributeOf = async (user: string, field = 'blocked', brand = '1') =>
      (await get(`${url}/admin/attributes/${brand}/${user}`)).body.attributes?.[field]?.value

    const run = await runReconciliation(url, '1', 'blocked')
    const path = `${url}/admin/reconciliations/${run.run}`
    // Between comparison and correction, the CRM's values of `c` and `unknown` change.
    await importLines(
      url,
      '1',
      [
        { user_id: 'c', blocked: true },
        { user_id: 'c', blocked: false },
      ],
      new Date().toISOString(),
    )
    await importLines(url, '1', [{ user_id: 'unknown', blocked: false }], new Date().toISOString())

    const preview = (await post(`${path}/correct`, { what: 'tighten', preview: true }, adminKey.key)).body
    assert.deepEqual([preview.count, preview.sets], [5, 'blocked = true'])
    assert.equal(await attributeOf('a'), false, 'a preview changes nothing')

    const events: string[] = []
    const unlisteners = (['item.settled', 'queue.enqueued', 'message.calling', 'batch.sent'] as const).map((name) =>
      on(name, () => events.push(name)),
    )
    const done = (await post(`${path}/correct`, {}, adminKey.key)).body
    for (const unlisten of unlisteners) unlisten()
    assert.deepEqual([done.applied, done.skipped, events], [2, 3, []])
    assert.deepEqual(await Promise.all(['a', 'b', 'c', 'unknown', 'free'].map((user) => attributeOf(user))), [
      true,
      true,
      false,
      false,
      true,
    ])
    assert.equal(await attributeOf('a', 'blocked', '2'), false, 'user a of brand 2 is another person')

    const { corrections } = (await get(path)).body
    assert.partialDeepStrictEqual(corrections, [
      { correction: done.correction, what: 'tighten', by: 'admin', applied: 2, skipped: 3 },
    ])
    const marked = (await readDiscrepancies(url, run.run)).filter(({ correction }) => correction === done.correction)
    assert.deepEqual(
      marked.map(({ user_id }) => user_id),
      ['a', 'b'],
    )
    assert.deepEqual(
      (await post(`${path}/correct`, {}, adminKey.key)).body.applied,
      0,
      'a second correction changes nothing',
    )

    // A consent that only the CRM has is withdrawn.
    const consent = await runReconciliation(url, '1', 'consent_push_notification')
    const withdrawn = (
      await post(`${url}/admin/reconciliations/${consent.run}/correct`, { what: 'tighten' }, adminKey.key)
    ).body
    assert.equal(withdrawn.applied, 1)
    assert.deepEqual(
      [
        await attributeOf('withdrawn', 'consent_push_notification'),
        await attributeOf('kept', 'consent_push_notification'),
      ],
      [false, true],
    )
  },
)

onSqlite('loosening requires the count of its preview, and only the newest run can correct', async (t, store) => {
  const operator = await startListOperator(t, (response) => void response.end(listOf([])))
  const { url } = await startReconciling(t, store, operator.url)
  await importLines(
    url,
    '1',
    ['a', 'b', 'c'].map((user_id) => ({ user_id, blocked: true })),
  )
  const old = await runReconciliation(url, '1', 'blocked')
  const run = await runReconciliation(url, '1', 'blocked')
  const correct = (runName: string, body: object) =>
    post(`${url}/admin/reconciliations/${runName}/correct`, body, adminKey.key)
  const refused = await correct(run.run, { what: 'loosen' })
  assert.equal(refused.status, 409)
  assert.match(refused.body.error, /blocked = false for 3 users, "a", "b", "c"\. To confirm, send "confirm": 3/)
  assert.equal((await correct(run.run, { what: 'loosen', confirm: 2 })).status, 409)
  assert.equal((await correct(run.run, { what: 'loosen', confirm: '3' })).status, 400)
  assert.equal((await correct(run.run, { what: 'free them' })).status, 400)
  assert.equal((await get(`${url}/admin/attributes/1/a`)).body.attributes.blocked.value, true)
  const stale = await correct(old.run, { what: 'loosen', confirm: 3, reason: 'test' })
  assert.equal(stale.status, 409)
  assert.match(stale.body.error, /newer run/)
  const unreasoned = await correct(run.run, { what: 'loosen', confirm: 3 })
  assert.deepEqual([unreasoned.status, unreasoned.body.error], [400, 'this ends blocked: give the reason as `reason`'])
  assert.partialDeepStrictEqual(
    (await correct(run.run, { what: 'loosen', confirm: 3, reason: 'the operator let them play' })).body,
    {
      applied: 3,
      skipped: 0,
    },
  )
  assert.equal((await get(`${url}/admin/attributes/1/a`)).body.attributes.blocked.value, false)
  const nothing = await correct(run.run, { what: 'loosen', confirm: 3 })
  assert.deepEqual(
    [nothing.status, nothing.body.error],
    [409, 'there is nothing to loosen: no user of this run would get blocked = false'],
  )
})

onSqlite('a discrepancy whose id the CRM cannot store has a note', async (t, store) => {
  const long = 'x'.repeat(300)
  const operator = await startListOperator(t, (response) => void response.end(listOf([long, 'good'])))
  const { url } = await startReconciling(t, store, operator.url)
  const { run } = await runReconciliation(url, '1', 'blocked')
  const { discrepancies } = (await get(`${url}/admin/reconciliations/${run}/discrepancies`)).body
  const notes = new Map(discrepancies.map(({ user_id, note }: { user_id: string; note: string }) => [user_id, note]))
  assert.match(notes.get(long) as string, /^the CRM cannot store this id .*: correct the id at the operator/)
  assert.equal(notes.get('good'), null)
})
