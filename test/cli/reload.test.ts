// A changed configuration is applied to a running process: SIGHUP and POST /admin/reload.

import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { element, post } from '../support/sides.ts'
import { addressesOf, freePorts, run, start } from './bellwire.ts'

const office = 'the-key-of-the-office-1'
const [good, old, fresh] = ['the-key-that-stays-1', 'the-key-that-goes-1', 'the-key-that-comes-1']

const configuration = (keys: readonly string[], more = '', level = 'info') => `
log: {level: ${level}}
operator:
  store: sqlite:operator.db
  suppression: none
  push: {provider: recording, file: pushed.ndjson}
  admin_keys: [{name: office, key: ${office}, scopes: [reload, audit]}]
  keys:
${keys.map((key) => `    - {name: ${key}, key: ${key}, brands: [1]}`).join('\n')}
${more}`

test('SIGHUP and POST /admin/reload replace keys; no request with a good key fails', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'bellwire-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'bellwire.yaml')
  await writeFile(file, configuration([good, old]))
  const operator = start(t, ['operator', '-c', file], freePorts)
  const { url, admin } = await addressesOf(operator)
  const send = async (key: string) => (await post(`${url}/channels/push/single`, element(), key)).status
  const reload = () => post(`${admin}/admin/reload`, {}, office)
  assert.deepEqual([await send(good), await send(old), await send(fresh)], [200, 200, 401])

  let replaced = false
  const callers = Array.from({ length: 8 }, async () => {
    const seen: number[] = []
    while (!replaced) seen.push(await send(good))
    return seen
  })
  await writeFile(file, configuration([good, fresh]))
  operator.child.kill('SIGHUP')
  await operator.line(/"server\.reloaded".*"applied":\["operator\.keys"\],"restart":\[\]/)
  assert.deepEqual([await send(good), await send(old), await send(fresh)], [200, 401, 200])

  await writeFile(file, configuration([good, fresh, 'short']))
  operator.child.kill('SIGHUP')
  await operator.line(/"server\.reload_refused".*bellwire\.yaml:11 {2}operator\.keys\[2\]\.key: expected at least 16/)
  assert.deepEqual([await send(good), await send(old), await send(fresh)], [200, 401, 200], 'nothing was changed')
  const refused = await reload()
  assert.deepEqual([refused.status, /^nothing was changed: bellwire\.yaml:11/.test(refused.body.error)], [409, true])

  await writeFile(file, configuration([good, old], '  keep_audit: 800d', 'error'))
  assert.deepEqual((await reload()).body, {
    applied: ['operator.keys', 'log.level'],
    restart: ['operator.keep_audit'],
  })
  assert.deepEqual([await send(good), await send(old), await send(fresh)], [200, 200, 401])
  const running = await run(t, ['config', '--running', '--url', admin], { BELLWIRE_KEY: office })
  assert.match(running.out, /^operator\.keep_audit +730d +default +800d$/m)
  assert.match(running.out, /^log\.level +error +bellwire\.yaml:2$/m)
  assert.match(running.out, /^operator\.port +0 +BELLWIRE_OPERATOR_PORT$/m)
  assert.doesNotMatch(running.out, /the-key-of-the-office/)
  const newBrand = configuration([good, old]).replace('brands: [1]', 'brands: [1, 7]')
  await writeFile(file, newBrand)
  const unknown = await reload()
  assert.deepEqual([unknown.status, /a new brand needs a restart/.test(unknown.body.error)], [409, true])
  replaced = true
  const seen = (await Promise.all(callers)).flat()
  assert.deepEqual([...new Set(seen)], [200], `${seen.length} requests with a good key`)
  operator.child.kill('SIGTERM')
  assert.equal((await operator.ended).code, 0)
})
