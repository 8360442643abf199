import assert from 'node:assert/strict'
import test from 'node:test'
import { benchmarks } from '../../bench/list.ts'
import { proofs } from '../../prove/list.ts'

test('benchmarks and proofs have unique names and a description', () => {
  for (const list of [benchmarks, proofs]) assert.equal(new Set(list.map(({ name }) => name)).size, list.length)
  for (const { name, goal, baseline, about } of benchmarks) {
    assert.match(name, /^[a-z0-9-]+$/)
    assert.ok(goal > 0 && baseline !== '' && about !== '', name)
  }
  for (const { claims, boundSeconds } of proofs) assert.ok(claims !== '' && boundSeconds.small <= boundSeconds.full)
})
