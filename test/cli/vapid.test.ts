import assert from 'node:assert/strict'
import test from 'node:test'
import { judgeKeys } from '../../src/subjects/providers/web-push/vapid.ts'
import { run } from './bellwire.ts'

test('vapid prints a new key pair each time, as settings or as JSON', async (t) => {
  const { code, out } = await run(t, ['vapid'])
  assert.equal(code, 0)
  const [, publicKey = '', privateKey = ''] = /^public_key: (\S+)\nprivate_key: (\S+)\n$/.exec(out) ?? []
  assert.equal(judgeKeys({ publicKey, privateKey }), undefined)
  const json = JSON.parse((await run(t, ['vapid', '--json'])).out) as { public_key: string; private_key: string }
  assert.equal(judgeKeys({ publicKey: json.public_key, privateKey: json.private_key }), undefined)
  assert.notEqual(json.private_key, privateKey)
})
