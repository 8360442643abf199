// An operator with many messages moves from SQLite to PostgreSQL.

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { postgresStore } from '../../bench/harness/stores.ts'
import { openDatabase } from '../../src/base/store/open-database.ts'
import { operatorMigrations } from '../../src/sides/operator/store.ts'
import { findByRef } from '../../src/subjects/delivery/messages.ts'
import type { Proof } from '../harness/proof.ts'
import { assertSent, runCommand } from '../harness/send-command.ts'
import { fill } from './look-ups.ts'

export const move: Proof = {
  name: 'move',
  claims:
    'a stopped operator with 10,000,000 messages moves from SQLite to PostgreSQL with equal rows in every table, and each message is found there',
  needs: ['postgres'],
  boundSeconds: { small: 120, full: 5_400 },
  async run({ small, folder, print }, signal) {
    const messages = small ? 5_000 : 10_000_000
    const store = `sqlite:${join(folder, 'operator.db')}`
    const source = await openDatabase(store, { migrations: operatorMigrations })
    const { known } = await fill(source, messages, signal)
    await source.close()
    print(`${messages.toLocaleString('en')} messages are stored`)

    const config = join(folder, 'bellwire.yaml')
    const key = { name: 'x', key: 'a-key-of-the-proof-0123456789', brands: [1] }
    const operator = { store, keys: [key], push: { provider: 'recording' }, suppression: 'none' }
    await writeFile(config, JSON.stringify({ operator }))
    const target = await postgresStore()
    try {
      const moved = await runCommand(['move', 'operator', '--yes', '--json', '-c', config, '--to', target.url])
      assertSent(moved)
      const { rows, ms } = JSON.parse(moved.output) as { rows: number; ms: number }
      assert.ok(rows >= messages)
      print(`${rows.toLocaleString('en')} rows moved in ${(ms / 1_000).toFixed(1)} s`)
      const database = await openDatabase(target.url, { migrations: operatorMigrations })
      try {
        for (const { ref, key } of known.slice(0, 1_000))
          assert.equal((await findByRef(database, ['1'], ref))?.key, key)
      } finally {
        await database.close()
      }
      return { messages, rows, seconds_stopped: ms / 1_000, rows_per_second: Math.round((rows * 1_000) / ms) }
    } finally {
      await target.remove()
    }
  },
}
