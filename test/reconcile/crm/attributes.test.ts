import assert from 'node:assert/strict'
import test from 'node:test'
import { longestLine } from '../../../src/base/http/lines.ts'
import { onEachEngine, onSqlite } from '../../support/engines.ts'
import { adminKey, get, post, startPlatform } from '../../support/sides.ts'
import { importLines, ndjson } from '../platform.ts'

const csv = { 'content-type': 'text/csv' }
const importBody = (url: string, brand: string, body: string, headers: Record<string, string>, query = '') =>
  post(`${url}/admin/attributes/${brand}${query}`, body, adminKey.key, headers)
const attributesOf = async (url: string, brand: string, user: string) =>
  (await get(`${url}/admin/attributes/${brand}/${encodeURIComponent(user)}`)).body.attributes

onSqlite(
  'attributes are imported from NDJSON or CSV, refused lines are listed, and equal ids of two brands are two users',
  async (t, store) => {
    const { url } = await startPlatform(t, { store, lanes: [] })
    const lines = [
      '{"user_id":"1001","blocked":true,"consent_sms":false,"updated_at":"2026-01-02T03:04:05Z"}',
      'not json',
      '',
      '{"user_id":"1002","blokced":true}',
      '{"user_id":"","blocked":true}',
      '{"user_id":"1003","blocked":"maybe"}',
      '{"user_id":"1004","blocked":true,"brand":2}',
      `{"user_id":"${'x'.repeat(256)}","blocked":true}`,
      `{"user_id":"1005","blocked":true,"updated_at":"${new Date(Date.now() + 3_600_000).toISOString()}"}`,
      '{"user_id":"1006","blocked":true,"updated_at":"soon"}',
      '{"user_id":"a\\u0000b","blocked":true}',
      '[]',
      '{"user_id":1007,"active":true,"brand":"1"}\r',
    ]
    const answer = (await importBody(url, '1', lines.join('\n'), ndjson)).body
    assert.deepEqual([answer.users, answer.changed, answer.refused_count], [2, 2, 10])
    assert.deepEqual(
      answer.refused.map((each: { line: number }) => each.line),
      [2, 4, 5, 6, 7, 8, 9, 10, 11, 12],
    )
    assert.match(answer.refused[1].error, /there is no attribute: set at least one of blocked/)
    assert.match(answer.refused[4].error, /brand is 2/)
    assert.deepEqual(await attributesOf(url, '1', '1001'), {
      blocked: { value: true, changed_at: '2026-01-02T03:04:05.000Z' },
      consent_sms: { value: false, changed_at: '2026-01-02T03:04:05.000Z' },
    })
    assert.equal((await attributesOf(url, '1', '1007')).active.value, true)

    const table =
      'name,user_id,blocked,updated_at\nAnna,1001,false,2026-02-01T00:00:00Z\n"B, C","a ""b""",1,\nshort,1002\nD,1003,,\nE,1004,TRUE,'
    const read = (await importBody(url, '2', table, csv, '?as_of=2026-03-01T00:00:00Z')).body
    assert.deepEqual(
      [read.users, read.changed, read.refused.map((each: { line: number }) => each.line)],
      [3, 3, [4, 5]],
    )
    assert.deepEqual(await attributesOf(url, '2', 'a "b"'), {
      blocked: { value: true, changed_at: '2026-03-01T00:00:00.000Z' },
    })
    assert.equal((await attributesOf(url, '2', '1001')).blocked.value, false)
    assert.equal((await attributesOf(url, '1', '1001')).blocked.value, true)
  },
)

onEachEngine(
  'a stream may be repeated, unordered, and contain a user twice: the newest change is stored',
  async (t, store) => {
    const { url } = await startPlatform(t, { store, lanes: [] })
    const at = (day: number): string => `2026-01-0${day}T00:00:00Z`
    const lines = [
      { user_id: 'a', blocked: true, updated_at: at(3) },
      { user_id: 'a', blocked: false, updated_at: at(2) },
      { user_id: 'a', excluded: true, updated_at: at(1) },
      { user_id: 'b', blocked: true, updated_at: at(1) },
      { user_id: 'b', blocked: false, updated_at: at(2) },
    ]
    await importLines(url, '1', lines)
    const expected = {
      a: {
        blocked: { value: true, changed_at: '2026-01-03T00:00:00.000Z' },
        excluded: { value: true, changed_at: '2026-01-01T00:00:00.000Z' },
      },
      b: { blocked: { value: false, changed_at: '2026-01-02T00:00:00.000Z' } },
    }
    for (const user of ['a', 'b'] as const) assert.deepEqual(await attributesOf(url, '1', user), expected[user])
    assert.equal((await importLines(url, '1', lines)).changed, 0)
    // Equal values keep their time: importing the whole table today makes no value too recent to judge.
    await importLines(url, '1', [{ user_id: 'a', blocked: true, excluded: true }], at(9))
    assert.deepEqual(await attributesOf(url, '1', 'a'), expected.a)
  },
)

onSqlite('only the line with a value nested 100,000 levels deep is refused', async (t, store) => {
  const { url } = await startPlatform(t, { store, lanes: [] })
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  const lines = [
    '{"user_id":"d1","blocked":true}',
    `{"user_id":"d2","blocked":${deep}}`,
    '{"user_id":"d3","blocked":true}',
  ]
  lines.push(`{"user_id":"d4","blocked":true,"brand":${deep}}`)
  const { status, body } = await importBody(url, '1', lines.join('\n'), ndjson)
  assert.deepEqual([status, body.users, body.refused_count], [200, 2, 2])
  assert.deepEqual(
    body.refused.map(({ line }: { line: number }) => line),
    [2, 4],
  )
  assert.match(body.refused[0].error, /^blocked is (an array that is nested too deep|\[\[).*: write true or false/)
  assert.equal((await attributesOf(url, '1', 'd3')).blocked.value, true)
  const one = await post(`${url}/admin/attributes/1/d2`, `{"blocked":${deep}}`, adminKey.key)
  assert.equal(one.status, 400)
})

onSqlite('many lines in arbitrary chunks, with one line that is too long', async (t, store) => {
  const { url } = await startPlatform(t, { store, lanes: [] })
  const lines = Array.from({ length: 12_000 }, (_, i) => JSON.stringify({ user_id: `u${i}`, blocked: i % 2 === 0 }))
  lines[5_000] = `{"user_id":"${'x'.repeat(longestLine + 600_000)}"}`
  const answer = (await importBody(url, '1', lines.join('\n'), ndjson)).body
  assert.deepEqual(
    [answer.users, answer.changed, answer.refused],
    [11_999, 11_999, [{ line: 5_001, error: `the line is longer than ${longestLine} bytes` }]],
  )
})

test('the attributes of one user are changed and read; invalid requests are refused with a remedy', async (t) => {
  const bound = {
    name: 'bound',
    key: 'the-key-of-brand-2-alone',
    scopes: ['counts', 'read', 'decide', 'attributes'],
    brands: ['2'],
  } as const
  const { url } = await startPlatform(t, { lanes: [], keys: [adminKey, bound] })
  const path = `${url}/admin/attributes/1/${encodeURIComponent('a/b ü')}`
  const set = (await post(path, { blocked: true, updated_at: '2026-01-01T00:00:00Z' }, adminKey.key)).body
  assert.deepEqual([set.changed, set.user_id, set.attributes.blocked.value], [true, 'a/b ü', true])
  assert.equal((await post(path, { blocked: true }, adminKey.key)).body.changed, false)
  assert.equal((await get(path)).body.attributes.blocked.changed_at, '2026-01-01T00:00:00.000Z')
  assert.equal((await get(`${url}/admin/attributes/2/nobody`)).status, 404)
  assert.equal((await get(path, 'the-key-of-brand-2-alone')).status, 403)
  assert.equal((await post(`${url}/admin/attributes/1`, 'x', adminKey.key)).status, 415)
  assert.equal((await importBody(url, 'x', '{}', ndjson)).status, 400)
  assert.match((await importBody(url, '1', 'id,blocked\n1,true', csv)).body.error, /user_id among them/)
  assert.match((await importBody(url, '1', 'user_id,colour\n1,true', csv)).body.error, /no column is an attribute/)
  assert.match((await importBody(url, '1', '{}', ndjson, '?as_of=2999-01-01T00:00:00Z')).body.error, /past time/)
  assert.match((await post(path, { blocked: 'x' }, adminKey.key)).body.error, /^blocked is "x": give true or false$/)
})

onSqlite('an import in which it is unclear who is blocked is refused', async (t, store) => {
  const { url } = await startPlatform(t, { store, lanes: [] })
  for (const [body, error] of [
    ['user_id,blocked,blocked\n9,true,false\n', /two columns are named blocked/],
    ['user_id,Blocked,active\n9,true,false\n', /the column Blocked is unknown: write blocked/],
    ['', /its first line must name the columns/],
    ['"user_id";"blocked"\n9;true\n', /must name the columns, separated by commas, .* it is: "user_id";"blocked"$/],
  ] as const) {
    const answer = await importBody(url, '1', body, csv)
    assert.deepEqual([answer.status, error.test(answer.body.error)], [400, true], JSON.stringify(answer.body))
  }
  const { body } = await importBody(url, '1', '{"user_id":"9","blocked":true,"blocked":false}\n', ndjson)
  assert.match(body.refused[0].error, /the member "blocked" occurs twice/)
  const misspelled = { blocked: false, Excluded: true }
  const imported = await importBody(url, '1', `${JSON.stringify({ user_id: '9', ...misspelled })}\n`, ndjson)
  assert.match(imported.body.refused[0].error, /the member Excluded is unknown: write excluded/)
  const changed = await post(`${url}/admin/attributes/1/9`, misspelled, adminKey.key)
  assert.deepEqual([changed.status, changed.body.error], [400, 'the member Excluded is unknown: write excluded'])
})
