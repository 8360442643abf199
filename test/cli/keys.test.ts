import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import test from 'node:test'
import { run } from './bellwire.ts'

test('keys new prints a new key with its SHA-256 each time, as settings or as JSON', async (t) => {
  const { code, out } = await run(t, ['keys', 'new'])
  assert.equal(code, 0)
  const [, key = '', digest] = /^key: (\w{48})\nkey_sha256: (\w{64})\n$/.exec(out) ?? []
  assert.equal(digest, hash('sha256', key))
  const json = JSON.parse((await run(t, ['keys', 'new', '--json'])).out) as { key: string; key_sha256: string }
  assert.equal(json.key_sha256, hash('sha256', json.key))
  assert.notEqual(json.key, key)
})
