import assert from 'node:assert/strict'
import test from 'node:test'
import { defaultContentMapping, readContent } from '../../src/contract/content.ts'

test('content is read from the siblings of activity', () => {
  const text = '{"activity":{"id":1},"title":"T","body":"B","image_url":"https://i/x.png","url":"/u","data":{"a":"1"}}'
  assert.deepEqual(readContent(text), {
    title: 'T',
    body: 'B',
    image_url: 'https://i/x.png',
    url: '/u',
    data: '{"a":"1"}',
  })
})

test('content that is absent or null stays absent, because the interface does not show its fields', () => {
  assert.deepEqual(readContent('{"activity":{"id":1}}'), {})
  assert.deepEqual(readContent('{"activity":{"id":1},"title":null,"data":null}'), {})
})

test('a mapping of JSON Pointers finds content that is elsewhere', () => {
  const mapping = { ...defaultContentMapping, title: '/content/0/a~1b', data: '/content/0/~0' }
  assert.deepEqual(readContent('{"content":[{"a/b":"T","~":{"k":"v"}}],"body":"B"}', mapping), {
    title: 'T',
    body: 'B',
    data: '{"k":"v"}',
  })
  assert.deepEqual(readContent('{"content":null}', mapping), {})
})

test('a pointer does not reach into what every object inherits', () => {
  assert.deepEqual(readContent('{}', { ...defaultContentMapping, title: '/constructor/name' }), {})
})

test('content of another type is an error that names the pointer and the remedy', () => {
  for (const [text, pattern] of [
    ['{"title":5}', /^title at \/title is a number, not a string; .*mapping$/],
    ['{"body":{"en":"x"}}', /^body at \/body is an object/],
    ['{"data":["x"]}', /^data at \/data is an array, not an object/],
    ['{', /cannot be read: /],
    [`{"data":{"a":${'['.repeat(100_000)}1.5${']'.repeat(100_000)}}}`, /cannot be read: /],
  ] as const) {
    const content = readContent(text)
    assert.ok('error' in content, text)
    assert.match(content.error, pattern)
  }
})

test('numbers in data keep the digits in which they came', () => {
  const data = '{"big":9223372036854775807,"round":1.0,"exp":1e3,"small":7}'
  assert.deepEqual(readContent(`{"data":${data}}`), { data })
})
