// `bellwire person` against a running operator and a running platform.

import assert from 'node:assert/strict'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { person, plantOperator } from '../people/planted.ts'
import { adminKey, temporary } from '../support/sides.ts'
import { run } from './bellwire.ts'

test('person export writes one JSON file that only its owner can read', async (t) => {
  const { url } = await plantOperator(t, 'sqlite::memory:')
  const out = join(await temporary(t), 'mary.json')
  const args = ['person', 'export', '--brand', '1', '--user', person.userId, '--url', url]
  const { code, err } = await run(t, [...args, '--out', out], { BELLWIRE_KEY: adminKey.key })
  assert.deepEqual([code, err], [0, ''])
  const [exported, ...more] = JSON.parse(await readFile(out, 'utf8'))
  assert.deepEqual(
    [exported.side, exported.user_id, exported.messages.length, more],
    ['operator', person.userId, 4, []],
  )
  assert.equal((await stat(out)).mode & 0o777, 0o600)
  const printed = await run(t, args, { BELLWIRE_KEY: adminKey.key })
  assert.equal(JSON.parse(printed.out)[0].messages.length, 4)
})
