// An act and its entry in the audit trail are one commit: a side that is killed has both, or none of them.

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { op, statement } from '../../src/base/store/statement.ts'
import { operatorMigrations } from '../../src/sides/operator/store.ts'
import { createChainCheck } from '../../src/subjects/audit/chain.ts'
import { listAudit, readAudit } from '../../src/subjects/audit/table.ts'
import { addressesOf, freePorts, start } from '../cli/bellwire.ts'
import { openTestDatabase } from '../support/open-test-database.ts'
import { post, temporary } from '../support/sides.ts'

const office = 'the-key-of-the-office-1'
const kills = 3
const callers = 4

const linkedUsers = statement<{ user_id: string }>('select_linked_users', {})`select user_id from devices`

test('a side that is killed during administrative acts has an entry for each act, and an act for each entry', async (t) => {
  const folder = await temporary(t)
  const config = join(folder, 'bellwire.yaml')
  await writeFile(
    config,
    `operator:
  store: sqlite:operator.db
  suppression: none
  push: {provider: recording, file: pushed.ndjson}
  admin_keys: [{name: office, key: ${office}, scopes: [devices]}]
  keys: [{name: crm, key: the-key-of-brand-one, brands: [1]}]
`,
  )
  const answered: string[] = []
  let user = 0
  for (let kill = 0; kill < kills; kill++) {
    const operator = start(t, ['operator', '-c', config], freePorts)
    const { admin } = await addressesOf(operator)
    const killAt = answered.length + 10 + Math.floor(Math.random() * 60)
    const link = async (): Promise<void> => {
      for (;;) {
        const id = `user-${++user}`
        const tokens = [{ token: `token-of-${id}`, provider: 'firebase', channel: 'android' }]
        const answer = await post(`${admin}/admin/devices/link`, { brand: 1, user_id: id, tokens }, office).catch(
          () => null,
        )
        if (answer === null) return
        assert.equal(answer.status, 200, JSON.stringify(answer.body))
        if (answered.push(id) === killAt) operator.child.kill('SIGKILL')
      }
    }
    await Promise.all([...Array.from({ length: callers }, link), operator.ended])
  }
  const database = await openTestDatabase(t, `sqlite:${join(folder, 'operator.db')}`, {
    migrations: operatorMigrations,
  })
  const linked = (await database.read(op(linkedUsers, [[]]))).map(({ user_id }) => user_id)
  const entries = await listAudit(database, { act: 'devices.link' }, Number.MAX_SAFE_INTEGER, 10_000)
  assert.deepEqual(linked.toSorted(), entries.map(({ user_id }) => user_id).toSorted())
  assert.deepEqual(
    answered.filter((id) => !linked.includes(id)),
    [],
    'an act that was answered is stored',
  )
  const check = createChainCheck()
  for await (const page of readAudit(database)) for (const row of page) check.addRow(row, '0')
  assert.deepEqual(check.end().problems, [])
})
