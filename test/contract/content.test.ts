import assert from 'node:assert/strict'
import test from 'node:test'
import { dataTexts, defaultContentMapping, readContent, readPushContent } from '../../src/contract/content.ts'

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

test('a push message names its target as token, tokens or recipient, each token once', () => {
  for (const [target, tokens] of [
    ['', undefined],
    [',"token":"a"', ['a']],
    [',"recipient":"a"', ['a']],
    [',"tokens":["a","b"]', ['a', 'b']],
    [',"tokens":["b","a","b"],"token":"a","recipient":"c"', ['a', 'c', 'b']],
    [',"token":null,"tokens":null,"recipient":null', undefined],
    // Nobody is named: all devices of the user, as if the field were not there.
    [',"tokens":[]', undefined],
  ] as const) {
    const content = readPushContent(`{"activity":{"id":1},"title":"T"${target}}`)
    assert.deepEqual(content, { title: 'T', ...(tokens && { tokens }) }, target)
  }
})

test('an address that pages would run is refused; those of the web, of apps and of the page itself pass', () => {
  for (const url of [
    'javascript:alert(1)',
    'JavaScript:alert(1)',
    ' javascript:alert(1)',
    'java\nscript:alert(1)',
    '\u0001javascript:alert(1)',
    'data:text/html,<script>',
    'vbscript:x',
    'file:///etc/passwd',
    'blob:https://x/1',
  ]) {
    const read = readContent(JSON.stringify({ url }))
    assert.match(
      (read as { error: string }).error,
      /^url at \/url is an address of the scheme [a-z]+: that is never/,
      url,
    )
  }
  assert.ok('error' in readPushContent('{"image_url":"javascript:alert(1)"}'))
  for (const url of ['https://example.com/b', 'http://x', 'app://bonus', 'larkspur:deposit', '/bonus', 'bonus?x=1', ''])
    assert.deepEqual(readContent(JSON.stringify({ url })), { url }, url)
  assert.deepEqual(readContent('{"image_url":"data:image/png;base64,AA=="}'), {
    image_url: 'data:image/png;base64,AA==',
  })
})

test('a message that names more devices than a user may have is refused, not fanned out', () => {
  const tokens = Array.from({ length: 1_001 }, (_, i) => `t-${i}`)
  assert.deepEqual(readPushContent(JSON.stringify({ tokens })), {
    error: "1001 device tokens are named; a message may name 1000 of its user's devices",
  })
})

test('a target is found where the mapping says, and only there', () => {
  const mapping = { ...defaultContentMapping, token: '/to/device', tokens: '/to/devices', recipient: '/to/0' }
  const text = '{"token":"x","tokens":["y"],"to":{"device":"a","devices":["b"],"0":"c"}}'
  assert.deepEqual(readPushContent(text, mapping), { tokens: ['a', 'c', 'b'] })
  assert.deepEqual(readPushContent('{"to":["d"]}', mapping), { tokens: ['d'] })
})

test('a target or overrides of another type are an error that names the pointer', () => {
  for (const [field, pattern] of [
    ['"token":5', /^token at \/token is a number, not a token; .*mapping$/],
    ['"token":""', /^token at \/token is an empty string, not a token/],
    ['"token":["a"]', /^token at \/token is an array/],
    ['"recipient":{"id":"a"}', /^recipient at \/recipient is an object/],
    ['"tokens":"a"', /^tokens at \/tokens is a string, not an array of tokens/],
    ['"tokens":["a",5]', /^tokens at \/tokens is an array with something else in it, not an array of tokens/],
    ['"tokens":["a",""]', /^tokens at \/tokens is an array with something else in it/],
    ['"overrides":[]', /^overrides at \/overrides is an array, not an object of objects/],
    ['"overrides":{"fcm":"high"}', /^overrides at \/overrides is an object with something else in it/],
    ['"overrides":{"fcm":null}', /^overrides at /],
    ['"overrides":{"fcm":[]}', /^overrides at /],
    ['"title":5', /^title at \/title is a number/],
  ] as const) {
    const content = readPushContent(`{"activity":{"id":1},${field}}`)
    assert.ok('error' in content, field)
    assert.match(content.error, pattern)
  }
  assert.match((readPushContent('[') as { error: string }).error, /cannot be read/)
})

test('a number that a double cannot hold is a number, not an object', () => {
  for (const [text, pattern] of [
    ['{"title":1.0}', /^title at \/title is a number/],
    ['{"data":1.0}', /^data at \/data is a number, not an object/],
    ['{"data":12345678901234567890}', /^data at \/data is a number/],
    ['{"token":1e3}', /^token at \/token is a number/],
    ['{"overrides":9223372036854775807}', /^overrides at \/overrides is a number/],
    ['{"overrides":{"fcm":1.0}}', /^overrides at /],
  ] as const) {
    const content = readPushContent(text)
    assert.ok('error' in content, text)
    assert.match(content.error, pattern)
  }
  const mapping = { ...defaultContentMapping, title: '/n/rawJSON' }
  assert.deepEqual(readPushContent('{"n":1.0}', mapping), {})
})

test('overrides are handed on by kind, their long numbers with all their digits', () => {
  const overrides = '{"fcm":{"android":{"priority":"HIGH","n":9223372036854775807}},"apns":{}}'
  const content = readPushContent(`{"overrides":${overrides}}`)
  assert.ok('overrides' in content)
  assert.equal(JSON.stringify(content.overrides), overrides)
  assert.deepEqual(readPushContent('{"overrides":null}'), {})
  assert.deepEqual(readPushContent('{"overrides":{}}'), { overrides: {} })
})

test('an error in the content comes before one in the target, as there is one error for a message', () => {
  assert.match((readPushContent('{"title":5,"token":5}') as { error: string }).error, /^title/)
})

test('data becomes texts: texts as they are, the rest as JSON with all its digits', () => {
  assert.deepEqual(dataTexts({}), {})
  assert.deepEqual(dataTexts({ data: '{}' }), {})
  const data =
    '{"text":"x \\"y\\"","n":7,"big":9223372036854775807,"round":1.0,"exp":1e3,"yes":true,"none":null,' +
    '"list":[1,"a",9007199254740993],"o":{"k":{"big":12345678901234567890}},"":"empty name","__proto__":"own"}'
  const texts = dataTexts(readContent(`{"data":${data}}`) as { data: string })
  assert.deepEqual(Object.entries(texts), [
    ['text', 'x "y"'],
    ['n', '7'],
    ['big', '9223372036854775807'],
    ['round', '1.0'],
    ['exp', '1e3'],
    ['yes', 'true'],
    ['none', 'null'],
    ['list', '[1,"a",9007199254740993]'],
    ['o', '{"k":{"big":12345678901234567890}}'],
    ['', 'empty name'],
    ['__proto__', 'own'],
  ])
})
