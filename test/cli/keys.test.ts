// Keys and tokens by commands: made, listed, added and revoked.

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { createSubscriberToken } from '../../src/base/http/subscriber-token.ts'
import { judgeKeys } from '../../src/subjects/providers/web-push/vapid.ts'
import { adminKey, get, post, startOperator, temporary } from '../support/sides.ts'
import { addressesOf, freePlatformPorts, run, start } from './bellwire.ts'

const office = 'the-key-of-the-office'

test('keys new prints a new key with its SHA-256 each time, as settings or as JSON', async () => {
  const { code, out } = await run(['keys', 'new'])
  assert.equal(code, 0)
  const [, key = '', digest] = /^key: (\w{48})\nkey_sha256: (\w{64})\n$/.exec(out) ?? []
  assert.equal(digest, hash('sha256', key))
  const json = JSON.parse((await run(['keys', 'new', '--json'])).out) as { key: string; key_sha256: string }
  assert.equal(json.key_sha256, hash('sha256', json.key))
  assert.notEqual(json.key, key)
})

test('vapid prints a new key pair each time, as settings or as JSON', async () => {
  const { code, out } = await run(['vapid'])
  assert.equal(code, 0)
  const [, publicKey = '', privateKey = ''] = /^public_key: (\S+)\nprivate_key: (\S+)\n$/.exec(out) ?? []
  assert.equal(judgeKeys({ publicKey, privateKey }), undefined)
  const json = JSON.parse((await run(['vapid', '--json'])).out) as { public_key: string; private_key: string }
  assert.equal(judgeKeys({ publicKey: json.public_key, privateKey: json.private_key }), undefined)
  assert.notEqual(json.private_key, privateKey)
})

test('a name is in the configuration or in the store: the call, the reload and the start name both places', async (t) => {
  const folder = await temporary(t)
  const file = join(folder, 'bellwire.yaml')
  const write = (names: readonly string[], more = '') =>
    writeFile(
      file,
      `
platform:
  store: sqlite:platform.db
  ${more}
  lanes: [{brand: 1, channel: push, to: {provider: operator-api, url: http://127.0.0.1:9, api_key: the-key-of-the-operator}}]
  keys:
    - {name: office, key: ${office}, scopes: [keys, audit, reload, counts]}
${names.map((name) => `    - {name: ${name}, key: the-key-of-${name}-1, scopes: [counts], brands: [2], from: [10.0.0.0/8], expires_at: 2030-01-01T00:00:00Z}`).join('\n')}
`,
    )
  await write(['crm'])
  const platform = start(t, ['platform', '-c', file], freePlatformPorts)
  const { admin } = await addressesOf(platform)
  const keys = (...args: string[]) => run(['keys', ...args, '--url', admin], { BELLWIRE_KEY: office })

  const refused = await keys('add', '--name', 'crm', '--scopes', 'counts')
  assert.match(refused.err, /name: "crm" is the name of a key already, at platform\.keys\[1\]: choose another name/)
  assert.match((await keys('revoke', '--name', 'crm')).err, /this key is in platform\.keys of the configuration/)

  const added = await keys('add', '--name', 'support', '--scopes', 'counts', '--from', '127.0.0.1,10.0.0.0/8')
  const [, key = ''] = /^key: (\w{48})\n/.exec(added.out) ?? []
  const used = async () => (await get(`${admin}/admin/summary`, key)).status
  assert.equal(await used(), 200, added.err)
  const listed = await keys('list')
  assert.match(listed.out, /^platform\.keys +crm +sha256:\S+ +counts +2 +10\.0\.0\.0\/8 +2030/m, listed.err)
  assert.match(listed.out, /^store +support +sha256:\w{16} +counts +all +127\.0\.0\.1 10\.0\.0\.0\/8 +never +\d{4}-/m)

  const taken =
    /platform\.keys\[1\]\.name: the store of the platform has a key with the name "support" already \(access_keys\)/
  for (const more of ['', 'keep: 30d']) {
    await write(['support'], more)
    const { status, body } = await post(`${admin}/admin/reload`, {}, office)
    assert.equal(status, 409)
    assert.match(body.error, taken)
    assert.equal(await used(), 200, 'nothing was changed')
  }
  platform.child.kill('SIGTERM')
  await platform.ended
  const again = await run(['platform', '-c', file], freePlatformPorts)
  assert.match(again.err, taken)
  assert.ok(again.code, 'the process has ended by itself')
})

test('tokens revoke ends the tokens of a user that were issued before', async (t) => {
  const secret = 'a-secret-of-at-least-32-characters'
  const { url } = await startOperator(t, { app: { secrets: [secret], origins: [] } })
  const authorization = `Bearer ${await createSubscriberToken({ secret, brand: '1', userId: 'bob', now: () => Date.now() - 2_000 })}`
  const inbox = async () => (await fetch(`${url}/app/inbox`, { headers: { authorization } })).status
  assert.equal(await inbox(), 200)
  const args = ['tokens', 'revoke', '--brand', '1', '--user', 'bob', '--url', url]
  const { out, err } = await run(args, { BELLWIRE_KEY: adminKey.key })
  assert.match(out, /^server: tokens that were issued before \S+Z are refused\.\n$/, err)
  assert.equal(await inbox(), 401)
})
