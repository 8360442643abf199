import assert from 'node:assert/strict'
import test from 'node:test'
import {
  type Content,
  dataTexts,
  defaultContentMapping,
  readContent,
  readPushContent,
  textMissingAt,
} from '../../src/contract/content.ts'

test('the content is read from the siblings of activity', () => {
  const text = '{"activity":{"id":1},"title":"T","body":"B","image_url":"https://i/x.png","url":"/u","data":{"a":"1"}}'
  assert.deepEqual(readContent(text), {
    title: 'T',
    body: 'B',
    image_url: 'https://i/x.png',
    url: '/u',
    data: '{"a":"1"}',
  })
})

test('a field that is missing or null is absent, because the interface requires no content', () => {
  assert.deepEqual(readContent('{"activity":{"id":1}}'), {})
  assert.deepEqual(readContent('{"activity":{"id":1},"title":null,"data":null}'), {})
})

test('a content mapping of JSON Pointers locates the content', () => {
  const mapping = { ...defaultContentMapping, title: '/content/0/a~1b', data: '/content/0/~0' }
  assert.deepEqual(readContent('{"content":[{"a/b":"T","~":{"k":"v"}}],"body":"B"}', mapping), {
    title: 'T',
    body: 'B',
    data: '{"k":"v"}',
  })
  assert.deepEqual(readContent('{"content":null}', mapping), {})
})

test('a pointer does not reach inherited properties', () => {
  assert.deepEqual(readContent('{}', { ...defaultContentMapping, title: '/constructor/name' }), {})
})

test('a field of the wrong type is an error that names the pointer and the remedy', () => {
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

test('numbers in data and overrides keep all digits, also if the element was parsed before', () => {
  const data = '{"big":9223372036854775807,"round":1.0,"exp":1e3,"small":7}'
  assert.deepEqual(readContent(`{"data":${data}}`), { data })
  const text = `{"data":${data},"overrides":{"fcm":{"n":9007199254740993}}}`
  const content = readPushContent(text, defaultContentMapping, JSON.parse(text))
  assert.equal(JSON.stringify(content), `{"data":${JSON.stringify(data)},"overrides":{"fcm":{"n":9007199254740993}}}`)
})

test('the target is read from token and tokens, without duplicates, and from recipient only if the mapping says so', () => {
  for (const [target, tokens] of [
    ['', undefined],
    [',"token":"a"', ['a']],
    // In relatives of this record, `recipient` is an address.
    [',"recipient":"player@example.com"', undefined],
    [',"recipient":""', undefined],
    [',"tokens":["a","b"]', ['a', 'b']],
    [',"tokens":["b","a","b"],"token":"a"', ['a', 'b']],
    [',"token":null,"tokens":null', undefined],
    // An empty list counts as absent: the message goes to all devices of the user.
    [',"tokens":[]', undefined],
  ] as const) {
    const content = readPushContent(`{"activity":{"id":1},"title":"T"${target}}`)
    assert.deepEqual(content, { title: 'T', ...(tokens && { tokens }) }, target)
  }
  const mapping = { ...defaultContentMapping, recipient: '/recipient' }
  assert.deepEqual(readPushContent('{"token":"a","recipient":"c","tokens":["b"]}', mapping), {
    tokens: ['a', 'c', 'b'],
  })
  assert.match(
    (readPushContent('{"recipient":{"id":"a"}}', mapping) as { error: string }).error,
    /^recipient at \/recipient is an object/,
  )
})

test('an empty address is absent, as a field of a template that was not filled', () => {
  assert.deepEqual(readPushContent('{"title":"x","url":"","image_url":""}'), { title: 'x' })
})

test('a title of white space and zero-width characters is no title where one is required', () => {
  const mapping = { ...defaultContentMapping, required: true }
  for (const title of ['', ' ', '\u00a0', '\u200b', '\ufeff', '\u2060\u200d', '\u3164', '\u2800', '\t\n']) {
    const text = JSON.stringify({ title, body: ' ' })
    assert.match(
      (readContent(text, mapping) as { error: string }).error,
      /neither a title at \/title nor a body/,
      JSON.stringify(title),
    )
    assert.deepEqual(textMissingAt(readContent(text) as Content), ['/title', '/body'])
  }
  for (const title of ['a', '5', '!', '👍', '\u200b😀'])
    assert.ok(!('error' in readContent(JSON.stringify({ title }), mapping)))
})

test('an address with a dangerous scheme is refused; web, app and relative addresses are accepted', () => {
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
      /^url at \/url has the scheme [a-z]+: which is never opened; use https/,
      url,
    )
  }
  assert.ok('error' in readPushContent('{"image_url":"javascript:alert(1)"}'))
  for (const url of ['https://example.com/b', 'http://x', 'app://bonus', 'larkspur:deposit', '/bonus', 'bonus?x=1'])
    assert.deepEqual(readContent(JSON.stringify({ url })), { url }, url)
  assert.deepEqual(readContent('{"image_url":"data:image/png;base64,AA=="}'), {
    image_url: 'data:image/png;base64,AA==',
  })
})

test('a message that names more than 1,000 devices is refused', () => {
  const tokens = Array.from({ length: 1_001 }, (_, i) => `t-${i}`)
  assert.deepEqual(readPushContent(JSON.stringify({ tokens })), {
    error: 'the message names 1001 device tokens: send at most 1000',
  })
})

test('the target is read only from the pointers of the mapping', () => {
  const mapping = { ...defaultContentMapping, token: '/to/device', tokens: '/to/devices', recipient: '/to/0' }
  const text = '{"token":"x","tokens":["y"],"to":{"device":"a","devices":["b"],"0":"c"}}'
  assert.deepEqual(readPushContent(text, mapping), { tokens: ['a', 'c', 'b'] })
  assert.deepEqual(readPushContent('{"to":["d"]}', mapping), { tokens: ['d'] })
})

test('a target or overrides of the wrong type are an error that names the pointer', () => {
  for (const [field, pattern] of [
    ['"token":5', /^token at \/token is a number, not a token; .*mapping$/],
    ['"token":""', /^token at \/token is an empty string, not a token/],
    ['"token":["a"]', /^token at \/token is an array/],
    ['"tokens":"a"', /^tokens at \/tokens is a string, not an array of tokens/],
    ['"tokens":["a",5]', /^tokens at \/tokens is an array with invalid members, not an array of tokens/],
    ['"tokens":["a",""]', /^tokens at \/tokens is an array with invalid members/],
    ['"overrides":[]', /^overrides at \/overrides is an array, not an object of objects/],
    ['"overrides":{"fcm":"high"}', /^overrides at \/overrides is an object with invalid members/],
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

test('an error calls a number that a double cannot hold a number, not an object', () => {
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

test('overrides are passed on by kind, with all digits of their numbers', () => {
  const overrides = '{"fcm":{"android":{"priority":"HIGH","n":9223372036854775807}},"apns":{}}'
  const content = readPushContent(`{"overrides":${overrides}}`)
  assert.ok('overrides' in content)
  assert.equal(JSON.stringify(content.overrides), overrides)
  assert.deepEqual(readPushContent('{"overrides":null}'), {})
  assert.deepEqual(readPushContent('{"overrides":{}}'), { overrides: {} })
})

test('an error in the content is reported before one in the target', () => {
  assert.match((readPushContent('{"title":5,"token":5}') as { error: string }).error, /^title/)
})

test('dataTexts keeps texts and converts other values to JSON with all digits', () => {
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
    ['list', '[1,"a",9007199254740993]'],
    ['o', '{"k":{"big":12345678901234567890}}'],
    ['', 'empty name'],
    ['__proto__', 'own'],
  ])
})

test('row 56: the expiry is read as epoch milliseconds, and an unreadable one is an error', () => {
  assert.deepEqual(readContent('{"expires_at":"2026-11-23T18:00:00Z"}'), { expiresAt: 1_795_456_800_000 })
  assert.deepEqual(readContent('{"expires_at":null}'), {})
  const unreadable = readContent('{"expires_at":"tomorrow"}')
  assert.match((unreadable as { error: string }).error, /^expires_at at \/expires_at is a string, not a date and time/)
})
