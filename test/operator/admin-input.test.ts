// Invalid input to /admin and /app: each mistake is answered with a clear 4xx that names it, and changes nothing.

import assert from 'node:assert/strict'
import { request as plainRequest } from 'node:http'
import test, { type TestContext } from 'node:test'
import { allScopes } from '../../src/base/http/access.ts'
import { createSubscriberToken } from '../../src/base/http/subscriber-token.ts'
import { functionDevices } from '../../src/subjects/devices/sources/function.ts'
import { witnessService } from '../support/push-services.ts'
import { adminKey, element, get, post, startOperator, startPlatform, witness } from '../support/sides.ts'
import { until } from '../support/wait.ts'

const secret = 'the-secret-of-the-input-tests-long-enough'
const everything = { ...adminKey, scopes: allScopes }
const refuseAll = witness(() => ({ category: 'failed', reason: 'invalid', error: 'no', rule: 'test' }))

async function startBoth(t: TestContext): Promise<Record<'operator' | 'platform', string>> {
  const push = { devices: { source: functionDevices(() => []), services: [witnessService('apns')] } }
  const operator = await startOperator(t, { push, app: { secrets: [secret] }, adminKeys: [everything] })
  const lanes = [{ brand: '1', channel: 'push', mode: 'single', provider: refuseAll } as const]
  const platform = await startPlatform(t, { keys: [everything], lanes })
  return { operator: operator.url, platform: platform.url }
}

const types = ['text/plain', 'application/x-www-form-urlencoded', 'application/x-ndjson', 'text/csv', 'application/xml']

test('a filter in a body of another content type is 415, and nothing is dismissed, replayed or restored', async (t) => {
  const { operator, platform } = await startBoth(t)
  for (const url of [operator, platform])
    for (const path of ['/admin/failed/dismiss', '/admin/failed/replay', '/admin/lanes/resume'])
      for (const type of types) {
        const answer = await post(url + path, { lane: '1/push' }, adminKey.key, { 'content-type': type })
        assert.deepEqual(
          [answer.status, answer.body.error],
          [415, `content-type ${type} is not supported here: send application/json`],
        )
      }
  const restore = { brand: '1', user_id: 'a' }
  for (const type of types)
    assert.equal(
      (await post(`${operator}/admin/devices/restore`, restore, adminKey.key, { 'content-type': type })).status,
      415,
    )
  const authorization = `Bearer ${await createSubscriberToken({ secret, brand: '1', userId: '1001' })}`
  const linked = { tokens: [{ token: 'a', provider: 'apns' }] }
  for (const type of types)
    assert.equal(
      (await post(`${operator}/app/devices/link`, linked, undefined, { authorization, 'content-type': type })).status,
      415,
    )
  assert.equal((await post(`${operator}/app/devices/link`, linked, undefined, { authorization })).status, 200)
})

test('a body without a content type is read as JSON', async (t) => {
  const { platform } = await startBoth(t)
  const status = await new Promise((resolve, reject) => {
    const request = plainRequest(
      `${platform}/admin/failed/dismiss`,
      { method: 'POST', headers: { 'x-api-key': adminKey.key } },
      (response) => {
        response.resume()
        resolve(response.statusCode)
      },
    )
    request.on('error', reject)
    request.end('{"lane":"1/push"}')
  })
  assert.equal(status, 200)
})

test('an empty body, an empty filter, and a filter beside "all" change nothing; "all": true changes all', async (t) => {
  const { operator, platform } = await startBoth(t)
  await post(`${platform}/admin/activities/push`, [element(), element()], adminKey.key)
  const failed = async () => (await get(`${platform}/admin/failed?state=pending`)).body.items.length
  await until(async () => (await failed()) === 2, { awaited: 'two Failed Actions' })
  const paths = [
    [platform, '/admin/failed/dismiss', {}],
    [platform, '/admin/failed/replay', {}],
    [operator, '/admin/failed/dismiss', {}],
    [operator, '/admin/devices/restore', { brand: '1' }],
  ] as const
  for (const [url, path, base] of paths) {
    for (const nothing of ['', base]) {
      const { status, body } = await post(url + path, nothing, adminKey.key)
      assert.equal(status, 400, path)
      assert.match(body.error, /send a filter \(.+\), or "all": true to select all/)
    }
    for (const all of [false, 'true', 1, null])
      assert.equal((await post(url + path, { ...base, all }, adminKey.key)).status, 400)
    const both = path.includes('restore') ? { user_id: 'a' } : { user: 'a' }
    assert.equal((await post(url + path, { ...base, ...both, all: true }, adminKey.key)).status, 400)
  }
  assert.equal(await failed(), 2)
  assert.deepEqual((await post(`${platform}/admin/failed/dismiss`, { all: true }, adminKey.key)).body, { count: 2 })
  assert.deepEqual((await post(`${operator}/admin/devices/restore`, { brand: '1', all: true }, adminKey.key)).body, {
    restored: 0,
  })
})

test('U+0000 in a path or query, and U+0000 or a lone surrogate in a body, is 400 with the name of the parameter', async (t) => {
  const { operator, platform } = await startBoth(t)
  const lookUps = [
    [operator, '/admin/devices?brand=1&user_id=a%00', 'user_id'],
    [operator, '/admin/devices/removed?brand=1&user_id=a%00', 'user_id'],
    [operator, '/admin/devices/removed?brand=1&after=1~a%00~b', 'after'],
    [operator, '/admin/messages/a%00', 'ref'],
    [operator, '/admin/failed?user=a%00', 'user'],
    [platform, '/admin/failed?lane=a%00', 'lane'],
    [platform, '/admin/attributes/1/a%00b', 'user'],
    [platform, '/admin/reconciliations/a%00b', 'run'],
    [platform, '/admin/reconciliations/a%00b/discrepancies', 'run'],
    [platform, '/admin/reconciliations/a%00b/export', 'run'],
    [platform, '/admin/reconciliations?after=%00', 'after'],
  ] as const
  for (const [url, path, name] of lookUps) {
    const { status, body } = await get(url + path)
    assert.deepEqual(
      [status, body.error],
      [400, `${name} holds U+0000 or a lone surrogate (half of a character), which cannot be stored`],
    )
  }
  const twice = await get(`${operator}/admin/devices?brand=1&user_id=a&user_id=b`)
  assert.deepEqual([twice.status, twice.body.error], [400, 'user_id is given more than once: give it once'])
  const changes = [
    [operator, '/admin/failed/dismiss', 'user'],
    [operator, '/admin/failed/replay', 'user'],
    [operator, '/admin/devices/restore', 'user_id'],
    [operator, '/admin/devices/removals/confirm', 'service'],
    [operator, '/admin/lanes/resume', 'lane'],
    [platform, '/admin/failed/dismiss', 'lane'],
    [platform, '/admin/reconciliations', 'field'],
    [platform, '/admin/attributes/1/a', 'updated_at'],
  ] as const
  for (const [url, path, name] of changes)
    for (const bad of ['a\u0000', 'a\ud800']) {
      const { status, body } = await post(url + path, { brand: '1', [name]: bad }, adminKey.key)
      assert.equal(status, 400, path)
      assert.match(body.error, new RegExp(`^${name} holds U\\+0000 or a lone surrogate`), path)
    }
  const deep = await post(`${operator}/admin/failed/dismiss`, { user: [{ a: ['\u0000'] }] }, adminKey.key)
  assert.match(deep.body.error, /^user holds/)
  for (const what of ['link', 'unlink'] as const)
    for (const bad of ['a\u0000', 'a\ud800']) {
      const record = { brand: '1', user_id: bad, tokens: [{ token: 'a', provider: 'apns' }] }
      assert.equal((await post(`${operator}/admin/devices/${what}`, record, adminKey.key)).status, 400)
      const authorization = `Bearer ${await createSubscriberToken({ secret, brand: '1', userId: '1001' })}`
      const own = { tokens: [{ token: bad, provider: 'apns' }] }
      const answer = await post(`${operator}/app/devices/${what}`, own, undefined, { authorization })
      assert.equal(answer.status, 400)
      assert.match(answer.body.error, /token/)
    }
})

test('a malformed path or an overlong path segment is answered with a JSON error', async (t) => {
  const { operator, platform } = await startBoth(t)
  for (const url of [operator, platform])
    for (const path of [
      '/admin/messages/%ff',
      '/%zz',
      '/admin/reconciliations/%ff/export',
      `/admin/messages/${'a'.repeat(301)}`,
      `/admin/reconciliations/${'a'.repeat(301)}`,
    ]) {
      const { status, body, headers } = await get(url + path)
      assert.ok(status === 400 || status === 404, `${path}: ${status}`)
      assert.deepEqual(Object.keys(body), ['error'], path)
      assert.equal(headers.get('content-type'), 'application/json; charset=utf-8')
    }
})

test('an invalid limit is 400 on every list', async (t) => {
  const { operator, platform } = await startBoth(t)
  const lists = [
    `${operator}/admin/failed`,
    `${platform}/admin/failed`,
    `${operator}/admin/devices/removed?brand=1`,
    `${operator}/admin/messages?brand=1&user_id=a`,
    `${platform}/admin/messages?brand=1&user_id=a`,
    `${platform}/admin/reconciliations`,
  ]
  for (const list of lists)
    for (const limit of ['', '0', '-1', '1.5', 'x', '1e3', '0x10']) {
      const { status, body } = await get(`${list}${list.includes('?') ? '&' : '?'}limit=${limit}`)
      assert.equal(status, 400)
      const given = limit === '0' ? '0' : JSON.stringify(limit)
      assert.equal(body.error, `limit is ${given}: give a whole number from 1 to 1000`, list)
    }
})

test('a missing parameter is 400 and named, an unknown object is 404, and /openapi.json has both statuses', async (t) => {
  const { operator, platform } = await startBoth(t)
  for (const url of [operator, platform]) {
    const missing = await post(`${url}/admin/lanes/resume`, {}, adminKey.key)
    assert.deepEqual(
      [missing.status, missing.body.error],
      [400, 'send either lane (one lane) or brand (all lanes of the brand)'],
    )
    assert.equal((await post(`${url}/admin/lanes/resume`, { lane: 'none' }, adminKey.key)).status, 404)
  }
  const runs = `${platform}/admin/reconciliations`
  assert.match(
    (await post(runs, { field: 'blocked' }, adminKey.key)).body.error,
    /^brand is missing: give the number of a brand, such as "1"/,
  )
  assert.match(
    (await post(runs, { brand: '1' }, adminKey.key)).body.error,
    /^field is missing: give blocked, .+ or consent_push_notification/,
  )
  assert.equal((await post(runs, { brand: '1', field: 'blocked' }, adminKey.key)).status, 404)
  for (const url of [operator, platform]) {
    const { body: document } = await get(`${url}/openapi.json`)
    const statuses = (path: string): string[] => Object.keys(document.paths[path].post.responses)
    assert.ok(statuses('/admin/lanes/resume').includes('404'))
    if (url === operator) continue
    assert.ok(statuses('/admin/reconciliations').includes('404'))
    assert.ok(statuses('/admin/reconciliations/{run}/correct').includes('409'))
  }
})

test('only keys with the scope tokens create subscriber tokens, and only for valid ids', async (t) => {
  const manager = {
    name: 'manager',
    key: 'the-key-of-the-manager',
    scopes: allScopes.filter((scope) => scope !== 'tokens'),
  } as const
  const issuer = { name: 'issuer', key: 'the-key-of-the-issuer', scopes: ['tokens'] } as const
  const { url } = await startOperator(t, { app: { secrets: [secret] }, adminKeys: [manager, issuer] })
  const create = (body: object, key: string = issuer.key) => post(`${url}/admin/subscriber-tokens`, body, key)
  const refused = await create({ brand: '1', user_id: '1001' }, manager.key)
  assert.deepEqual([refused.status, /lacks the scope tokens/.test(refused.body.error)], [403, true])
  assert.equal((await post(`${url}/admin/failed/dismiss`, { user: 'a' }, issuer.key)).status, 403)
  assert.equal((await create({ brand: '1', user_id: 'x'.repeat(255) })).status, 200)
  for (const user of ['a\u0000', '\ud800', 'a\u0007', 'x'.repeat(256), 'x'.repeat(5_000), '', 1])
    assert.match((await create({ brand: '1', user_id: user })).body.error, /^user_id /)
  for (const brand of ['../x', '01', '-1', '9223372036854775808', '', 1.5])
    assert.match((await create({ brand, user_id: '1001' })).body.error, /^brand is .+: give the number of a brand/)
  // Nobody delivers for another brand, and its inbox would always be empty.
  const another = await create({ brand: '77', user_id: '1001' })
  assert.deepEqual([another.status, another.body.error], [400, 'brand: 77 is not configured here'])
  const authorization = `Bearer ${await createSubscriberToken({ secret, brand: '77', userId: '1001' })}`
  assert.equal((await fetch(`${url}/app/inbox`, { headers: { authorization } })).status, 401)
  for (const seconds of [0, 86_401, 1.5, '60'])
    assert.match(
      (await create({ brand: '1', user_id: '1001', ttl_seconds: seconds })).body.error,
      /^ttl_seconds is .+: give a whole number from 1 to 86400/,
    )
})

test('every wrong type and every unknown member is 400, and named', async (t) => {
  const { operator, platform } = await startBoth(t)
  const wrong = [
    [platform, '/admin/reconciliations', { brand: ['1'], field: 'blocked' }, 'brand is an array of 1'],
    [platform, '/admin/reconciliations', { brand: { a: 1 }, field: 'blocked' }, 'brand is an object'],
    [platform, '/admin/reconciliations', { brand: 1e300, field: 'blocked' }, 'brand is 1e+300'],
    [platform, '/admin/reconciliations', { brand: '1', field: ['blocked'] }, 'field is an array of 1'],
    [platform, '/admin/reconciliations', { brand: '1', field: 'blocked', any_size: 'yes' }, 'any_size is "yes"'],
    [platform, '/admin/outcomes', {}, 'seqs is missing'],
    [platform, '/admin/outcomes', { seqs: '1' }, 'seqs is "1"'],
    [platform, '/admin/outcomes', { seqs: [1, '2'] }, 'seqs[1] is "2"'],
    [platform, '/admin/outcomes', { seqs: [2 ** 53] }, 'seqs[0] is 9007199254740992'],
    [platform, '/admin/failed/replay', { user: 'a', per_second: 0 }, 'per_second is 0'],
    [platform, '/admin/failed/dismiss', { user: 'a', per_second: 1 }, 'per_second is not known here: use lane,'],
    [platform, '/admin/failed/dismiss', { user: 7 }, 'user is 7'],
    [platform, '/admin/failed/dismiss', { state: 'open' }, 'state is "open": give pending, dismissed or replayed'],
    [platform, '/admin/attributes/1/a', { blocked: 'true' }, 'blocked is "true": give true or false'],
    [operator, '/admin/devices/restore', { brand: '1', since: 'soon' }, 'since is "soon": give a time, such as "2026'],
    [operator, '/admin/devices/restore', { brand: '1', restorable: 'true' }, 'restorable is "true"'],
    [operator, '/admin/devices/restore', { brand: '1', constructor: 'x' }, 'constructor is not known here'],
    [operator, '/admin/devices/removals/confirm', { service: 'apns', for_minutes: '60' }, 'for_minutes is "60"'],
    [operator, '/admin/people/erase', { brand: 1.5, user_id: 'a' }, 'brand is 1.5: give the number of a brand'],
    [operator, '/admin/people/erase', { brand: '1', user_id: 'a', all: true }, 'all is not known here'],
  ] as const
  for (const [url, path, body, error] of wrong) {
    const answer = await post(url + path, body, adminKey.key)
    assert.equal(answer.status, 400, path)
    assert.equal(answer.body.error.slice(0, error.length), error)
  }
  for (const [path, error] of [
    ['/admin/failed?nonsense=1', 'nonsense is not known here: use lane, activity,'],
    ['/admin/failed?after=-1', 'after is "-1": give a whole number of 0 or more'],
    ['/admin/devices?brand=1', 'user_id is missing: give a string'],
    ['/admin/devices/removed?brand=1&restorable=1', 'restorable is "1": give true or false'],
    ['/admin/audit/verify?expect=x', 'expect is "x": give digests of 64 hexadecimal digits'],
    ['/admin/devices/removed?brand=1&after=x', 'after is not the `next` of a page'],
  ] as const) {
    const { status, body } = await get(operator + path)
    assert.deepEqual([status, body.error.slice(0, error.length)], [400, error], path)
  }
})
