// Both sides over HTTP: the operator streams its lists, and the platform compares them with its CRM.

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileSource } from '../../src/subjects/attributes/file.ts'
import { importLines, readDiscrepancies, runReconciliation } from '../reconcile/platform.ts'
import { onSqlite } from '../support/engines.ts'
import { keys, startOperator, startPlatform, temporary } from '../support/sides.ts'

const unusualIds = ['"quoted"', 'back\\slash', 'comma,in it', 'ü😀日本語', 'x'.repeat(255)]

onSqlite(
  'differences between the data of the operator and the CRM are found for each brand, with unusual ids too',
  async (t, store) => {
    const file = join(await temporary(t), 'users.ndjson')
    const users = [
      ...unusualIds.map((user_id) => ({ brand: '1', user_id, blocked: true, excluded: false })),
      { brand: '1', user_id: '1001', blocked: true, excluded: true },
      { brand: '2', user_id: '1001', blocked: false, excluded: false },
      { brand: '1', user_id: 'free', blocked: false, excluded: false },
    ]
    await writeFile(file, users.map((user) => JSON.stringify(user)).join('\n'))
    const operator = await startOperator(t, { attributes: await fileSource(file) })
    const of = (brand: '1' | '2', apiKey: string) => ({
      brand,
      url: operator.url,
      apiKey,
      fields: ['blocked', 'excluded', 'consent_sms'] as const,
    })
    const { url } = await startPlatform(t, {
      store,
      lanes: [],
      reconciliation: [of('1', keys.one.key), of('2', keys.two.key)],
    })
    await importLines(url, '1', [
      ...unusualIds.slice(1).map((user_id) => ({ user_id, blocked: true })),
      { user_id: 'free', blocked: true },
      { user_id: '1001', blocked: false },
    ])
    const run = await runReconciliation(url, '1', 'blocked')
    assert.equal(run.state, 'done', JSON.stringify(run.refused))
    assert.deepEqual(
      (await readDiscrepancies(url, run.run)).map(({ user_id, severity }) => [user_id, severity]),
      [
        ['"quoted"', 'critical'],
        ['1001', 'critical'],
        ['free', 'low'],
      ],
    )
    assert.partialDeepStrictEqual(await runReconciliation(url, '2', 'blocked'), { state: 'done', ids: 0, crm_users: 0 })
    assert.equal((await runReconciliation(url, '1', 'consent_sms')).state, 'no_source', 'the file has no such column')
  },
)
