import assert from 'node:assert/strict'
import test from 'node:test'
import { memberTexts, repeatedMember } from '../../src/contract/members.ts'
import { sourceOf } from '../../src/contract/source.ts'
import { randomFrom, randomJson, spacing } from './json-maker.ts'

const names = ['id', 'user_id', 'activity']

function members(json: string): Record<string, string> {
  return Object.fromEntries([...memberTexts(sourceOf(json))].filter(([name]) => names.includes(name)))
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

test('a name that occurs twice is found, even if it is written with escapes', () => {
  assert.equal(repeatedMember(sourceOf('{"id":1,"a":{"id":2},"i\\u0064":3}')), 'id')
  assert.equal(repeatedMember(sourceOf('{"id":1,"a":{"id":2,"id":3},"b":"id"}')), undefined)
  assert.equal(repeatedMember(sourceOf('["id","id"]')), undefined)
})

test('of an object that is not valid JSON, the members before the error are found', () => {
  assert.deepEqual(members('{"id":1,"user_id":"u" "activity":2}'), { id: '1', user_id: '"u" "activity":2' })
  for (const json of ['', '{', '{"', '{"id', '{"id"', '{"id":', '{"id\\', '[', '{id:1}'])
    assert.equal(members(json).user_id, undefined)
})

test('for random objects, memberTexts() finds the same members as JSON.parse (seeded)', () => {
  for (let seed = 1; seed <= 3_000; seed++) {
    const random = randomFrom(seed)
    const json = randomJson(random, spacing(random))
    if (!json.startsWith('{')) continue
    const parsed = JSON.parse(json) as Record<string, unknown>
    const found = members(json)
    for (const name of names) {
      assert.deepEqual(
        found[name] === undefined ? undefined : JSON.parse(found[name]),
        parsed[name],
        `seed ${seed}: ${json}`,
      )
    }
  }
})
