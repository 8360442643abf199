import assert from 'node:assert/strict'
import test from 'node:test'
import { Type } from 'typebox'
import { createMismatch } from '../../src/contract/mismatch.ts'

test('a schema is compiled when the first value is checked, so that a side starts without compiling the schemas of its routes', () => {
  let reads = 0
  const schema = new Proxy(Type.Object({ limit: Type.Integer({ minimum: 1, maximum: 9 }) }), {
    get(of, name, receiver) {
      reads++
      return Reflect.get(of, name, receiver)
    },
  })
  const mismatch = createMismatch(schema, 'the query')
  assert.equal(reads, 0)
  assert.equal(mismatch({ limit: 9 }), undefined)
  assert.equal(mismatch({ limit: 10 }), 'limit is 10: give a whole number from 1 to 9')
  assert.ok(reads > 0)
})

test('the error about an empty object names the members that it may have', () => {
  const settings = Type.Object(
    { max: Type.Optional(Type.Integer()), mode: Type.Optional(Type.String()) },
    { minProperties: 1 },
  )
  const mismatch = createMismatch(Type.Object({ settings }), 'the body')
  assert.equal(
    mismatch({ settings: {} }),
    'settings is an empty object: give an object with at least one of max or mode',
  )
  assert.match(mismatch({ settings: [] }) ?? '', /^settings is an array of 0: give an object with at least one of/)
})
