import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import test from 'node:test'
import { parse } from 'yaml'
import { decide, faultOf, type Rule, rulesOf } from '../../../src/subjects/providers/http/rules.ts'

const meaning = (rules: readonly Rule[], status: number, json?: unknown): string =>
  decide(rulesOf(rules), status, json).rule.means

test('statuses have a default meaning', () => {
  const meanings: readonly (readonly [string, readonly number[]])[] = [
    ['successful', [200, 201, 202, 204, 299]],
    ['misconfigured', [401, 402, 403, 407]],
    ['fatal', [301, 302, 304, 308, 408, 425, 429, 500, 501, 502, 503, 504, 599]],
    ['failed', [400, 404, 405, 409, 410, 413, 415, 422, 451]],
  ]
  for (const [means, statuses] of meanings)
    for (const status of statuses) assert.equal(meaning([], status), means, String(status))
})

test('the first rule that matches decides', () => {
  const rules: Rule[] = [
    { when: { status: 410 }, means: 'gone' },
    { when: { status: [400, '41x'.replace('x', '8')], body_path: '/code', equals: '7' }, means: 'mismatch' },
    { when: { status: '4xx', body_path: '/errors/0/code', matches: '^THROTTLE' }, means: 'fatal' },
    { when: { status: '2xx', body_path: '/id', absent: true }, means: 'failed' },
    { when: { body_path: '/a~1b/~0', exists: true }, means: 'misconfigured' },
  ]
  assert.equal(meaning(rules, 410), 'gone')
  assert.equal(meaning(rules, 400, { code: 7 }), 'mismatch')
  assert.equal(meaning(rules, 418, { code: '7' }), 'mismatch')
  assert.equal(meaning(rules, 400, { code: 77 }), 'failed')
  assert.equal(meaning(rules, 409, { errors: [{ code: 'THROTTLED' }] }), 'fatal')
  assert.equal(meaning(rules, 500, { 'a/b': { '~': 0 } }), 'misconfigured')
  for (const id of [undefined, null, '', [], {}]) assert.equal(meaning(rules, 200, { id }), 'failed')
  for (const id of ['x', 0, false, ['x']]) assert.equal(meaning(rules, 200, { id }), 'successful')
})

test('an answer that is not JSON has no values', () => {
  const rules: Rule[] = [{ when: { body_path: '/id', exists: true }, means: 'failed' }]
  assert.equal(meaning(rules, 200, undefined), 'successful')
  assert.equal(meaning([{ when: { body_path: '/constructor', exists: true }, means: 'failed' }], 200, {}), 'successful')
})

test('the name of the decision describes the rule', () => {
  const rules: Rule[] = [{ when: { status: [200, '3xx'], body_path: '/id', absent: true }, means: 'failed' }]
  assert.equal(decide(rulesOf(rules), 200, {}).name, '200 or 3xx /id absent')
  assert.equal(decide(rulesOf([]), 503, {}).name, 'any other answer')
})

test('an invalid rule is refused with the reason', () => {
  for (const [when, pattern] of [
    [{ status: 'ok' }, /expected a number such as 404, or 4xx, found ok/],
    [{ status: [200, 600] }, /found 600/],
    [{ body_path: 'id', exists: true }, /JSON Pointer/],
    [{ body_path: '/id' }, /has no effect/],
    [{ equals: 'x' }, /body_path is missing/],
    [{ body_path: '/id', matches: '(' }, /not a regular expression/],
  ] as const)
    assert.match(faultOf({ when, means: 'failed' }) ?? '', pattern)
  assert.equal(faultOf({ when: {}, means: 'failed' }), undefined)
  assert.equal(faultOf({ when: { status: [200, '5xx'], body_path: '/a', matches: 'x' }, means: 'failed' }), undefined)
})

test('the Expo example of docs/push.md counts no page, empty body or refusal as delivered', async () => {
  const page = await readFile(new URL('../../../docs/push.md', import.meta.url), 'utf8')
  const block = [...page.matchAll(/```yaml\n(.*?)```/gs)].find(([, yaml]) => yaml?.includes('name: expo'))?.[1]
  const { rules } = parse(block as string).operator.push.devices.services[0] as { rules: Rule[] }
  assert.equal(meaning(rules, 200, { data: { status: 'ok', id: 'x' } }), 'successful')
  const refused = (error: string) => ({ data: { status: 'error', message: 'm', details: { error } } })
  assert.equal(meaning(rules, 200, refused('DeviceNotRegistered')), 'gone')
  assert.equal(meaning(rules, 200, refused('MessageTooBig')), 'failed')
  // An HTML page and an empty body are no JSON.
  for (const json of [undefined, null, [], { data: [refused('DeviceNotRegistered').data] }])
    assert.equal(meaning(rules, 200, json), 'fatal', JSON.stringify(json))
})
