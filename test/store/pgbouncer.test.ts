// A pooler that shares sessions would lose the locks that coordinate the processes.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import test from 'node:test'
import { inspectStore } from '../../src/base/store/inspect-store.ts'
import { openDatabase } from '../../src/base/store/open-database.ts'
import { op } from '../../src/base/store/statement.ts'
import { user } from '../suites/database.ts'
import { pgbouncerService, startPgbouncer } from '../support/services/pgbouncer.ts'
import { postgres, query, withoutPostgres } from '../support/services/postgres.ts'
import { addressOf, without } from '../support/services/service.ts'
import { addUsers, migrations } from './users.ts'

const skip = (await withoutPostgres()) || (await without(pgbouncerService))
const refusal = /pooler that shares sessions: connect directly or through a session pooler/

for (const poolMode of ['transaction', 'statement', 'session'] as const)
  test(`PgBouncer with pool_mode = ${poolMode} is ${poolMode === 'session' ? 'accepted' : 'refused'} at the start and by doctor`, {
    skip,
  }, async (t) => {
    const { url: server } = await postgres()
    const name = `pooled_${randomBytes(6).toString('hex')}`
    await query(server, `create database ${name}`)
    t.after(() => query(server, `drop database ${name} with (force)`))
    const direct = new URL(server)
    direct.pathname = `/${name}`
    const url = await startPgbouncer(t, await addressOf(pgbouncerService), direct.href, poolMode)
    const [finding] = await inspectStore(url)
    if (poolMode === 'session') {
      const database = await openDatabase(url, { migrations })
      t.after(() => database.close())
      await database.commit([op(addUsers, [user('1', '1001')])])
      assert.equal(finding?.ok, true, finding?.description)
    } else {
      await assert.rejects(openDatabase(url, { migrations }), refusal)
      assert.deepEqual([finding?.ok, refusal.test(finding?.description ?? '')], [false, true], finding?.description)
    }
  })
