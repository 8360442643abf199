import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import test from 'node:test'
import { shards } from './shards.ts'

test('each shard of the proofs has a test file, and no proof is in two shards', () => {
  const files = globSync('shard-*.test.ts', { cwd: import.meta.dirname })
  assert.equal(files.length, shards.length)
  assert.equal(new Set(shards.flat()).size, shards.flat().length)
})
