import assert from 'node:assert/strict'
import test from 'node:test'
import { findMembers, namesOf, spansFor } from '../../src/contract/members.ts'
import { sourceOf } from '../../src/contract/source.ts'
import { randomFrom, randomJson, spacing } from './json-maker.ts'

const wanted = namesOf('id', 'user_id', 'activity')

function members(json: string): Record<string, string> {
  const source = sourceOf(json)
  const spans = spansFor(wanted)
  assert.equal(findMembers(source, 0, wanted, spans), json.trimEnd().length)
  const found: Record<string, string> = {}
  for (const [n, name] of wanted.list.entries()) {
    if (spans[2 * n] !== -1) found[name] = json.slice(spans[2 * n], spans[2 * n + 1])
  }
  return found
}

test('values keep digits that JSON.parse would round', () => {
  assert.deepEqual(members('{"id":9007199254740993}'), { id: '9007199254740993' })
  assert.deepEqual(members('{ "id" : 1.0 , "user_id" : 1e400 }'), { id: '1.0', user_id: '1e400' })
})

test('the last of equal names wins, even if it is written with escapes', () => {
  assert.deepEqual(members('{"id":1,"id":2}'), { id: '2' })
  assert.deepEqual(members('{"id":1,"\\u0069d":2}'), { id: '2' })
  assert.deepEqual(members('{"\\u0069\\u0064":1,"id":2}'), { id: '2' })
})

test('names inside values and similar names are not members', () => {
  assert.deepEqual(members('{"a":{"id":1},"b":["id",2],"c":"\\"id\\":3","ix":4,"id ":5,"":6}'), {})
})

test('two names of the same length are refused, because names are indexed by length', () => {
  assert.throws(() => namesOf('ab', 'cd'), /two names have 2 characters/)
})

test('for random objects, findMembers() finds the same members as JSON.parse (seeded)', () => {
  for (let seed = 1; seed <= 3_000; seed++) {
    const random = randomFrom(seed)
    const json = randomJson(random, spacing(random))
    if (!json.startsWith('{')) continue
    const parsed = JSON.parse(json) as Record<string, unknown>
    const found = members(json)
    for (const name of wanted.list) {
      assert.deepEqual(
        found[name] === undefined ? undefined : JSON.parse(found[name]),
        parsed[name],
        `seed ${seed}: ${json}`,
      )
    }
  }
})
