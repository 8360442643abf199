import assert from 'node:assert/strict'
import test from 'node:test'
import type { Json } from '../../../src/base/runtime/json.ts'
import { bodyTemplate } from '../../../src/subjects/providers/http/body.ts'
import {
  type FindValue,
  headerTemplate,
  jsonTemplate,
  pathTemplate,
  piecesOf,
  placeholdersOf,
} from '../../../src/subjects/providers/http/template.ts'
import { valuesOf } from '../../../src/subjects/providers/http/values.ts'

const text = (value: string) => ({ json: JSON.stringify(value), text: value })
const findIn =
  (values: Readonly<Record<string, string>>): FindValue =>
  (name) =>
    name in values ? text(values[name] as string) : undefined

test('a text is split at its placeholders', () => {
  assert.deepEqual(piecesOf('Hi {{user_id}}!'), ['Hi ', { name: 'user_id' }, '!'])
  assert.deepEqual(piecesOf('{{ user_id }}{{token}}'), [{ name: 'user_id' }, { name: 'token' }])
  assert.deepEqual(piecesOf('{user_id} {{}'), ['{user_id} {{}'])
})

test('a text that is exactly one placeholder has the JSON type of its value; within a longer text the value is text', () => {
  const look = valuesOf(
    {
      ref: 'p-1',
      deliveryId: 'p-1',
      brand: '9223372036854775807',
      userId: '1001',
      content: { title: 'T', data: '{"big":9223372036854775807}' },
      expiresAt: 1_000_000_500,
    },
    1_000_000_000 - 59_600,
  )
  const render = jsonTemplate({
    brand: '{{brand}}',
    data: '{{data}}',
    ttl: '{{ttl_seconds}}',
    until: '{{expires_at_seconds}}',
    user: '{{user_id}}',
    text: 'brand {{brand}}: {{title}}{{body}} {{push_id}}',
    fixed: [1, true, null, 'x'],
  })
  assert.equal(
    render(look),
    '{"brand":9223372036854775807,"data":{"big":9223372036854775807},"ttl":60,"until":1000000,"user":"1001",' +
      '"text":"brand 9223372036854775807: T p-1","fixed":[1,true,null,"x"]}',
  )
})

test('absent values are left out, and so are objects and arrays with absent values only', () => {
  const render = jsonTemplate({
    to: ['{{a}}', '{{b}}'],
    contents: { en: '{{b}}' },
    deep: [[{ x: '{{b}}' }]],
    empty: {},
  })
  assert.equal(render(findIn({ a: '1' })), '{"to":["1"],"empty":{}}')
  assert.equal(jsonTemplate(['{{b}}'])(findIn({})), undefined)
  assert.equal(bodyTemplate({ a: '{{b}}' }, [])(findIn({}), undefined), '{}')
  assert.equal(bodyTemplate(['{{b}}'], [])(findIn({}), undefined), '[]')
})

const dangerousTexts = [
  '"',
  '\\',
  '","admin":true,"x":"',
  '\u2028',
  '\n',
  '{{secret.k}}',
  '\ud800',
  '',
  '..',
  'ü漢🎉',
  '\r\nX-Evil: 1',
]

test('no content changes the structure of the JSON', () => {
  const render = jsonTemplate({ only: '{{v}}', inside: 'a {{v}} b' })
  for (const v of dangerousTexts) {
    const read = JSON.parse(render(findIn({ v, 'secret.k': 'leaked' })) as string) as Record<string, Json>
    assert.deepEqual(read, { only: v, inside: `a ${v} b` })
  }
})

test('no content ends a header, and encoded values can be decoded', () => {
  const render = headerTemplate('t={{v}}')
  for (const v of dangerousTexts) {
    const value = render(findIn({ v }))
    assert.match(value, /^[\x20-\x7e]*$/)
    assert.equal(decodeURIComponent(value.slice(2)), v.toWellFormed())
  }
  assert.equal(headerTemplate('Key {{secret.k}}')(findIn({ 'secret.k': '100%' })), 'Key 100%')
})

test('no content changes the structure of the URL', () => {
  const render = pathTemplate('/apps/a-{{v}}/users/{{v}}/push?to={{v}}&x=1')
  assert.equal(
    render(findIn({ v: 'a/b?c=d#e&f g' })),
    '/apps/a-a%2Fb%3Fc%3Dd%23e%26f%20g/users/a%2Fb%3Fc%3Dd%23e%26f%20g/push?to=a%2Fb%3Fc%3Dd%23e%26f%20g&x=1',
  )
  for (const v of dangerousTexts) {
    const path = render(findIn({ v }))
    if (v === '' || v === '..') assert.equal(path, undefined)
    else {
      const url = new URL(path as string, 'http://h')
      assert.equal(url.pathname.split('/').length, 6)
      assert.deepEqual([...url.searchParams.keys()], ['to', 'x'])
      assert.equal(url.searchParams.get('to'), v.toWellFormed())
    }
  }
  assert.equal(pathTemplate('/users/{{v}}')(findIn({ v: '.' })), undefined)
  assert.equal(pathTemplate('/users/{{a}}{{b}}')(findIn({ a: '.', b: '.' })), undefined)
  assert.equal(pathTemplate('/send?to={{v}}')(findIn({})), '/send?to=')
})

test('a message can set only the allowed members', () => {
  const render = bodyTemplate({ to: '{{v}}', priority: 5 }, ['priority', 'badge'])
  const overrides = { priority: 10, badge: JSON.parse('{"n":1}'), to: 'everybody', filters: [] }
  assert.equal(render(findIn({ v: '1001' }), overrides), '{"to":"1001","priority":10,"badge":{"n":1}}')
  assert.equal(render(findIn({ v: '1001' }), undefined), '{"to":"1001","priority":5}')
  assert.equal(bodyTemplate({ to: '{{v}}' }, [])(findIn({ v: '1' }), overrides), '{"to":"1"}')
})

test('every placeholder is found with its position, and so is every {{ without a placeholder', () => {
  assert.deepEqual(placeholdersOf({ a: ['x', '{{b}} {{c'], '{{d}}': 'e' }, 'body'), [
    { name: 'b', at: 'body.a[1]' },
    { at: 'body.a[1]' },
    { at: 'body.{{d}}' },
  ])
})
