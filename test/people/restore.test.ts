// A person who was erased after the backup is erased again after the restore, from a list without user ids.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { run } from '../cli/bellwire.ts'
import { reportOf } from '../support/erase.ts'
import { adminKey, get, startOperator, temporary } from '../support/sides.ts'
import { away, other, person, plantOperator } from './planted.ts'

test('erasures after a backup are repeated by the list when the backup is restored', async (t) => {
  const folder = await temporary(t)
  const lost = await plantOperator(t, `sqlite:${join(folder, 'lost.db')}`)
  const env = { BELLWIRE_KEY: adminKey.key }
  const [out, list, config] = ['backup', 'erasures.ndjson', 'bellwire.yaml'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  const backup = await run(t, ['backup', 'operator', '--out', out, '--url', lost.url], env)
  assert.equal(backup.code, 0, backup.err)
  const args = ['person', 'erase', '--brand', '1', '--user', person.userId, '--url', lost.url]
  const erased = await run(t, [...args, '--list', list], env)
  assert.equal(erased.code, 0, erased.err)
  assert.doesNotMatch(await readFile(list, 'utf8'), new RegExp(person.userId))
  const again = await run(t, ['person', 'erasures', '--url', lost.url], env)
  assert.equal(again.out, await readFile(list, 'utf8'))
  await lost.stop()

  const store = join(folder, 'restored', 'operator.db')
  await writeFile(
    config,
    `operator: {store: 'sqlite:${store}', suppression: none, push: {provider: recording, file: ${join(folder, 'out')}}, keys: [{name: p, key: ${adminKey.key}, brands: [1]}]}\n`,
  )
  const restore = (erasures: string) => run(t, ['restore', out, '--erasures', erasures, '-c', config])
  const wrong = await restore(config)
  assert.deepEqual([wrong.code, /is no list of `bellwire person erasures`/.test(wrong.err)], [2, true], wrong.err)
  const restored = await restore(list)
  assert.equal(restored.code, 0, restored.err)
  assert.match(restored.out, /^1 erasures are repeated as soon as the operator runs\.$/m)

  const operator = await startOperator(t, { store: `sqlite:${store}`, publish: [{ brand: '1', publisher: away }] })
  const { id } = JSON.parse(await readFile(list, 'utf8'))
  await reportOf(operator.url, id)
  const { body: kept } = await get(`${operator.url}/admin/people/1/${other.userId}`)
  assert.ok(kept.messages.length > 0)
  await operator.stop()
  const files = readdirSync(join(folder, 'restored')).map((name) =>
    readFileSync(join(folder, 'restored', name), 'latin1'),
  )
  for (const mark of [person.userId, person.text, person.token])
    assert.ok(!files.some((text) => text.includes(mark)), `the store has ${mark}`)
  assert.ok(files.some((text) => text.includes(other.text)))
})
