// `bellwire person` against a running operator and a running platform.

import assert from 'node:assert/strict'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { other, person, plantOperator } from '../people/planted.ts'
import { adminKey, temporary } from '../support/sides.ts'
import { run } from './bellwire.ts'

test('person export writes one JSON file that only its owner can read', async (t) => {
  const { url } = await plantOperator(t, 'sqlite::memory:')
  const out = join(await temporary(t), 'mary.json')
  const args = ['person', 'export', '--brand', '1', '--user', person.userId, '--url', url]
  const { code, err } = await run([...args, '--out', out], { BELLWIRE_KEY: adminKey.key })
  assert.deepEqual([code, err], [0, ''])
  const [exported, ...more] = JSON.parse(await readFile(out, 'utf8'))
  assert.deepEqual(
    [exported.side, exported.user_id, exported.messages.length, more],
    ['operator', person.userId, 4, []],
  )
  assert.equal((await stat(out)).mode & 0o777, 0o600)
  const printed = await run(args, { BELLWIRE_KEY: adminKey.key })
  assert.equal(JSON.parse(printed.out)[0].messages.length, 4)
})

test('person erase waits for the end, reports what stays, and erases the users of a file', async (t) => {
  const { url } = await plantOperator(t, 'sqlite::memory:')
  const args = ['person', 'erase', '--brand', '1', '--url', url]
  const env = { BELLWIRE_KEY: adminKey.key }
  const first = await run([...args, '--user', person.userId], env)
  assert.equal(first.code, 0, first.err)
  assert.match(first.out, /^operator: erased: messages 4, inbox 2, devices \d+, .*items \d+/)
  assert.match(first.out, /^ {2}stays: messages\.key, digest: /m)
  const file = join(await temporary(t), 'users.txt')
  await writeFile(file, `${person.userId}\n${other.userId}\n`)
  const again = await run([...args, '--users', file, '--json'], env)
  const reports = again.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual(
    reports.map(({ state, erased }) => [state, erased.messages]),
    [
      ['done', 0],
      ['done', 3],
    ],
  )
  const neither = await run(args, env)
  assert.deepEqual([neither.code, /give either --user or --users/.test(neither.err)], [2, true])
})
