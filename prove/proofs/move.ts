// An operator with many messages moves from SQLite to PostgreSQL.

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { postgresStore } from '../../bench/harness/stores.ts'
import { openDatabase } from '../../src/base/store/open-database.ts'
import { operatorMigrations } from '../../src/sides/operator/store.ts'
import { findByRef } from '../../src/subjects/delivery/messages.ts'
import type { Proof } from '../harness/proof.ts'
import { records } from '../harness/records.ts'
import { assertSent, runCommand } from '../harness/send-command.ts'
import { createSetup } from '../harness/setup.ts'
import { apiKeys } from '../plans.ts'
import { fill } from './look-ups.ts'

/** Messages between the backup and the stop. */
const later = 1_000

export const move: Proof = {
  name: 'move',
  claims:
    'an operator with 10,000,000 messages moves from SQLite to PostgreSQL: it is copied while it runs, and stopped for less than a minute; every table has equal rows',
  needs: ['postgres'],
  boundSeconds: { small: 120, full: 5_400 },
  async run({ small, folder, print }, signal) {
    const messages = small ? 5_000 : 10_000_000
    const store = `sqlite:${join(folder, 'operator.db')}`
    const source = await openDatabase(store, { migrations: operatorMigrations })
    const { known } = await fill(source, messages, signal)
    await source.close()
    print(`${messages.toLocaleString('en')} messages are stored`)

    const setup = await createSetup({ folder, operatorStore: store })
    const operator = setup.operator()
    await operator.ready
    const url = setup.operatorUrls[0] as string
    const backup = join(folder, 'backup')
    assertSent(await runCommand(['backup', 'operator', '--out', backup, '--url', url]))
    await sendBatch(url, later)
    const config = join(folder, 'bellwire.yaml')
    const key = { name: 'x', key: 'a-key-of-the-proof-0123456789', brands: [1] }
    const settings = { store, keys: [key], push: { provider: 'recording' }, suppression: 'none' }
    await writeFile(config, JSON.stringify({ operator: settings }))
    await using target = await postgresStore()
    const move = ['move', 'operator', '--yes', '--json', '-c', config, '--to', target.url, '--backup', backup]
    const moved = await runCommand(move, (output) => {
      if (output.includes('Stop the operator now')) operator.signal('SIGTERM')
    })
    assertSent(moved)
    const { rows, ms } = JSON.parse(moved.output.slice(moved.output.indexOf('{'))) as { rows: number; ms: number }
    assert.ok(rows >= messages + later)
    // Times are checked only in full size, on an otherwise idle machine.
    if (!small) assert.ok(ms < 60_000, `the operator was stopped for ${ms} ms`)
    print(`${rows.toLocaleString('en')} rows moved; the operator was stopped for ${(ms / 1_000).toFixed(1)} s`)
    const database = await openDatabase(target.url, { migrations: operatorMigrations })
    try {
      for (const { ref, key } of known.slice(0, 1_000)) assert.equal((await findByRef(database, ['1'], ref))?.key, key)
    } finally {
      await database.close()
    }
    return { messages, rows, seconds_stopped: ms / 1_000 }
  },
}

async function sendBatch(operatorUrl: string, count: number): Promise<void> {
  const texts = records(0, 2 * count).flatMap(({ brand, text }) => (brand === '1' ? [text] : []))
  const response = await fetch(`${operatorUrl}/channels/push/batch`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': apiKeys['1'] as string },
    body: `[${texts.join(',')}]`,
  })
  assert.equal(response.status, 200, await response.text())
}
