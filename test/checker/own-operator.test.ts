// Our own operator, as a process, passes every check, and is restarted during the run.

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { operatorChecks } from '../../src/tools/checker/operator/checks.ts'
import { prepareRun } from '../../src/tools/checker/run.ts'
import { type Started, start } from '../cli/bellwire.ts'
import { onEachEngine } from '../support/engines.ts'
import { freePort } from '../support/free-port.ts'
import { temporary } from '../support/sides.ts'
import { pace } from './check-plain.ts'
import { notPassed } from './judge-run.ts'

const key = 'the-key-of-the-platform'
const batchMax = 40

async function configure(t: TestContext, store: string): Promise<{ config: string; url: string }> {
  const folder = await temporary(t)
  const port = await freePort()
  const users = 'brand,user_id,blocked,excluded,consent_push_notification,consent_site_notification'
  await writeFile(join(folder, 'users.csv'), `${users}\n1,1001,false,false,true,true\n1,1002,true,false,true,true\n`)
  const config = join(folder, 'bellwire.yaml')
  await writeFile(
    config,
    `operator:
  port: ${port}
  store: ${store}
  keys: [{name: platform, key: ${key}, brands: [1]}]
  push: {provider: recording, file: pushed.ndjson}
  site: inbox
  attributes: [{file: users.csv}]
  limits: {batch: ${batchMax}}
log: {level: info, format: json}
`,
  )
  return { config, url: `http://127.0.0.1:${port}` }
}

onEachEngine('our operator passes every check, also over a restart', async (t, store) => {
  const { config, url } = await configure(t, store)
  let running: Started
  const startOperator = async (): Promise<void> => {
    running = start(t, ['operator', '--config', config])
    await running.line(/"server\.listening"/)
  }
  await startOperator()
  const prepared = await prepareRun({
    url,
    key,
    checks: operatorChecks.flatMap(({ checks }) => checks),
    facts: {
      brand: '1',
      users: { normal: '1001', blocked: '1002' },
      known: { '1001': { blocked: false, consent_push_notification: true }, '1002': { blocked: true } },
      content: { title: 'A check', body: 'Please ignore' },
      batchMax,
      batchMaxAgreed: true,
      fields: ['blocked', 'excluded', 'consent_push_notification', 'consent_site_notification'],
      pace: { ...pace, timeout: 20_000, patience: 5_000, retryPause: 100 },
      restart: async () => {
        running.child.kill('SIGTERM')
        assert.equal((await running.ended).code, 0)
        await startOperator()
      },
    },
    rules: 'bellwire',
    mostMessages: 5_000,
  })
  const { results, stopped } = await prepared.run()
  assert.equal(stopped, undefined)
  assert.deepEqual(notPassed(results, ['not_applicable', 'skipped']), [])
  const skipped = new Set(results.filter(({ status }) => status === 'skipped').map(({ check }) => check.id))
  assert.deepEqual([...skipped], ['no-device.single', 'no-device.batch', 'reconciliation.error'])
})
