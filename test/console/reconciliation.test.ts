// Do the lists agree? Runs, discrepancies, and the correction of the CRM, in the console.

import assert from 'node:assert/strict'
import test from 'node:test'
import { openDatabase } from '../../src/base/store/open-database.ts'
import { crmStoreMigrations } from '../../src/subjects/reconcile/crm/store.ts'
import type { ReconciliationOptions } from '../../src/subjects/reconcile/options.ts'
import { type ReconciliationRun, readRun, requestRun, saveRun } from '../../src/subjects/reconcile/runs.ts'
import { importLines, runReconciliation, waitUntilEnded } from '../reconcile/platform.ts'
import { listOf, startListOperator } from '../support/list-operator.ts'
import { adminKey, get, startPlatform, temporary } from '../support/sides.ts'
import { until } from '../support/wait.ts'
import { anna, consoleKeys, hostile, reader } from './at-work.ts'
import { signedIn } from './browse.ts'

test('a person compares the lists, sees who differs, corrects the CRM after a preview, and acknowledges', async (t) => {
  const operator = await startListOperator(t, (response) => void response.end(listOf(['a', 'b', hostile])))
  const { url } = await startPlatform(t, {
    keys: consoleKeys as never,
    lanes: [],
    reconciliation: [
      { brand: '1', url: operator.url, apiKey: 'the-key-of-brand-1', fields: ['blocked'] },
    ] as never as ReconciliationOptions[],
  })
  await importLines(url, '1', [
    { user_id: 'a', blocked: false },
    { user_id: 'free', blocked: true },
  ])
  const run = await runReconciliation(url, '1', 'blocked')

  const looking = await signedIn(url, reader.key)
  assert.match((await looking.look('/console/reconciliation')).text, /blocked 1 done 3 0 1 3/)
  const seen = await looking.look(`/console/reconciliation/run?run=${run.run}`)
  assert.match(seen.text, /Critical 3 High 0 Low 1/)
  assert.doesNotMatch(seen.html, /correct|acknowledge/, 'a key that only reads is offered no act')

  const browser = await signedIn(url, anna.key)
  const users = await browser.look(`/console/reconciliation/users?run=${run.run}`)
  assert.match(users.text, /critical operator .*free low CRM/)
  assert.doesNotMatch(users.html, /<img|\u202e/)
  const page = await browser.look(`/console/reconciliation/run?run=${run.run}`)
  assert.match(page.text, /Tighten/)
  assert.doesNotMatch(page.text, /Loosen/, 'to end a block needs the scope lift')
  const asked = await browser.look(`/console/reconciliation/correct?run=${run.run}&what=tighten`)
  assert.match(asked.text, /sets blocked = true for 3 users/)
  assert.doesNotMatch(asked.html, /<img/)
  const done = await browser.send('/console/reconciliation/correct', {
    run: run.run,
    what: 'tighten',
    confirm: '3',
    reason: 'the import was late',
  })
  assert.match(done.text, /corrected for 3 users.*Corrections.*tighten .* anna 3 0/)
  assert.equal((await get(`${url}/admin/attributes/1/a`)).body.attributes.blocked.value, true)

  const lifting = await signedIn(url, adminKey.key)
  assert.match(
    (await lifting.look(`/console/reconciliation/correct?run=${run.run}&what=loosen`)).text,
    /blocked = false for 1 user\. This gives rights back/,
  )
  await lifting.send('/console/reconciliation/correct', {
    run: run.run,
    what: 'loosen',
    confirm: '1',
    reason: 'a wrong import',
  })
  assert.equal((await get(`${url}/admin/attributes/1/free`)).body.attributes.blocked.value, false)

  await browser.look(`/console/reconciliation/acknowledge?run=${run.run}`)
  assert.match(
    (await browser.send('/console/reconciliation/acknowledge', { run: run.run, reason: 'known' })).text,
    /Acknowledged 20.* by anna/,
  )
  const started = await browser.send('/console/reconciliation/start', {
    brand: '1',
    field: 'blocked',
    reason: 'once more',
  })
  const again = /reconciliation\/run\?run=([\w-]+)/.exec(started.path)?.[1] as string
  assert.equal((await waitUntilEnded(url, again)).state, 'done')
  assert.notEqual(again, run.run)
})

test('a list whose latest run is not among the newest hundred is said to be missing', async (t) => {
  const folder = await temporary(t)
  const database = await openDatabase(`sqlite:${folder}/platform-crm.db`, { migrations: crmStoreMigrations })
  for (let n = 0; n < 99; n++) {
    const requested = await readRun(database, (await requestRun(database, '1', 'blocked', 'test')) as string)
    await saveRun(database, { ...requested, state: 'no_source', ended_at: Date.now() } as ReconciliationRun)
  }
  await database.close()
  const operator = await startListOperator(t, (response) => void response.end(listOf([])))
  const { url } = await startPlatform(t, {
    store: `sqlite:${folder}/platform.db`,
    lanes: [],
    reconciliation: [
      { brand: '1', url: operator.url, apiKey: 'the-key-of-brand-1', fields: ['blocked'] },
    ] as never as ReconciliationOptions[],
  })
  const browser = await signedIn(url, adminKey.key)
  const look = async () => (await browser.look('/console/reconciliation')).text
  assert.match(await look(), /blocked 1 no source/)
  assert.doesNotMatch(await look(), /is not here/)
  for (let run = 0; run < 2; run++) await runReconciliation(url, '1', 'blocked')
  await until(async () => /A list without a run among the newest 100 is not here: filter/.test(await look()), {
    awaited: 'the page says it',
  })
})
