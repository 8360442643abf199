// The OpenAPI documents are valid, describe exactly the served routes, and match the real requests and responses.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Check } from 'typebox/schema'
import { createSubscriberToken } from '../../src/base/http/subscriber-token.ts'
import type { InterfaceOperation } from '../../src/contract/documents/interface-operations.ts'
import { operatorOperations, platformOperations } from '../../src/contract/documents/interface-operations.ts'
import { openApi } from '../../src/contract/documents/open-api.ts'
import { deviceLink, deviceUnlink, messageStatusPath } from '../../src/contract/endpoints.ts'
import { operatorDocuments } from '../../src/sides/operator/documents.ts'
import { functionDevices } from '../../src/subjects/devices/sources/function.ts'
import { openApiDocuments } from '../../src/tools/cli/write-openapi.ts'
import { report, secretOf } from '../conversions/reporting.ts'
import { witnessService } from '../support/push-services.ts'
import { collectRoutes } from '../support/routes.ts'
import {
  type Answer,
  adminKey,
  element,
  get,
  keys,
  post,
  startOperator,
  startPlatform,
  witness,
} from '../support/sides.ts'

const secret = 'the-secret-of-the-document-tests-long-enough'
const service = { name: 'backend', key: 'the-key-of-the-backend', scopes: ['devices'], brands: ['1'] } as const

/** An operator with all optional routes. */
async function operatorUrl(t: TestContext): Promise<string> {
  const push = { devices: { source: functionDevices(() => []), services: [witnessService('apns')] } }
  const { url } = await startOperator(t, {
    push,
    app: { secrets: [secret] },
    status: {},
    adminKeys: [adminKey, service],
  })
  return url
}

async function platformUrl(t: TestContext): Promise<string> {
  const { url } = await startPlatform(t, {
    keys: [adminKey, service],
    lanes: [
      {
        brand: '1',
        channel: 'push',
        mode: 'batch',
        provider: witness(),
        status: { secrets: [secretOf('operator 1')] },
      },
    ],
  })
  return url
}

const packagedDocuments = openApiDocuments() as Promise<
  Record<'operator' | 'platform', { readonly paths: Record<string, object> }>
>

const sides = [
  { side: 'operator', urlOf: operatorUrl },
  { side: 'platform', urlOf: platformUrl },
] as const

const documentOf = async (url: string): Promise<Answer['body']> => (await get(`${url}/openapi.json`, '')).body

for (const { side, urlOf } of sides) {
  test(`the document of the ${side} is valid OpenAPI 3.1`, async (t) => {
    const document = await documentOf(await urlOf(t))
    const validator = new Validator()
    const { valid, errors } = await validator.validate(structuredClone(document))
    assert.deepEqual([valid, errors, validator.version], [true, undefined, '3.1'])
    const names = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`)
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, to]) => to as string)
    assert.deepEqual(new Set(references), new Set(names))
    assert.equal(JSON.stringify(document).includes('"$id"'), false)
  })

  test(`the document of the ${side} in the package describes each served route as the side does`, async (t) => {
    const { paths } = (await packagedDocuments)[side]
    const served = await documentOf(await urlOf(t))
    for (const [path, item] of Object.entries(served.paths)) assert.deepEqual(paths[path], item, path)
  })

  test(`the document of the ${side} describes exactly the served routes`, async (t) => {
    const served = collectRoutes(t)
    const document = await documentOf(await urlOf(t))
    const described = Object.entries<object>(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    )
    // Pages for people: the API reference, and the console.
    const isPage = (route: string): boolean => / \/(docs|console)(\/|$)/.test(route)
    assert.ok(served.has('GET /docs') && served.has('GET /console'))
    assert.deepEqual(described.toSorted(), [...served].filter((route) => !isPage(route)).toSorted())
  })

  test(`every operation of the ${side} has a summary and an authentication`, async (t) => {
    const document = await documentOf(await urlOf(t))
    const operations = Object.values<Record<string, Answer['body']>>(document.paths).flatMap(Object.values)
    const names = operations.map(({ operationId }) => operationId)
    assert.equal(new Set(names).size, names.length)
    const tags = document.tags.map(({ name }: { name: string }) => name)
    for (const {
      summary,
      security,
      tags: [tag],
      operationId,
    } of operations) {
      assert.match(summary, /^[A-Z].{8,}/, operationId)
      assert.ok(tags.includes(tag), operationId)
      for (const scheme of security.flatMap(Object.keys)) assert.ok(scheme in document.components.securitySchemes)
      assert.equal(security.length > 0, tag !== 'Process', operationId)
    }
  })

  test(`the ${side} takes an API key as Bearer and Basic exactly where its document says so`, async (t) => {
    const url = await urlOf(t)
    const document = await documentOf(url)
    const key = side === 'operator' ? keys.both : service
    const values = { ApiKeyAsBearer: `Bearer ${key.key}`, ApiKeyAsBasic: `Basic ${btoa(`${key.name}:${key.key}`)}` }
    const taken: string[] = []
    for (const [path, methods] of Object.entries<Record<string, Answer['body']>>(document.paths))
      for (const [method, { security }] of Object.entries(methods)) {
        const schemes: string[] = security.flatMap(Object.keys)
        if (!schemes.includes('ApiKey')) continue
        for (const [scheme, authorization] of Object.entries(values)) {
          const body = method === 'post' ? { body: '{}' } : {}
          const answer = await fetch(url + path.replace(/\{\w+\}/g, '1'), {
            method,
            headers: { authorization },
            ...body,
          })
          await answer.body?.cancel()
          assert.equal(answer.status !== 401, schemes.includes(scheme), `${method} ${path} ${scheme}: ${answer.status}`)
          if (answer.status !== 401) taken.push(`${method} ${path}`)
        }
      }
    assert.ok(taken.includes(side === 'operator' ? 'get /messages/status' : 'post /v1/integration/user/device/link'))
  })

  test(`the reference page of the ${side} loads nothing from other hosts, and its errors are in Bellwire's format`, async (t) => {
    const url = await urlOf(t)
    const page = await fetch(`${url}/docs`)
    const html = await page.text()
    assert.equal(page.url, `${url}/docs/`)
    assert.equal(page.status, 200)
    assert.match(page.headers.get('content-type') ?? '', /^text\/html/)
    assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'.*connect-src 'self'/)
    const sources = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, source]) => source as string)
    assert.ok(sources.includes('js/scalar.js'))
    for (const source of sources) assert.equal(new URL(source, page.url).origin, url)
    assert.doesNotMatch(html, /https?:\/\/[^"' ]+\.(?:js|css)/)
    for (const setting of ['"agent":{"disabled":true}', '"mcp":{"disabled":true}', '"showDeveloperTools":"never"'])
      assert.ok(html.replaceAll(/\s/g, '').includes(setting), `no button sends the document elsewhere: ${setting}`)
    const script = await fetch(`${url}/docs/js/scalar.js`)
    assert.equal(script.status, 200)
    assert.ok((await script.text()).length > 100_000)
    for (const [method, path, status] of [
      ['GET', '/docs/nothing', 404],
      ['POST', '/docs', 405],
      ['GET', '/nothing', 404],
      ['DELETE', '/openapi.json', 405],
    ] as const) {
      const refused = await fetch(url + path, { method })
      assert.deepEqual(
        [path, refused.status, typeof ((await refused.json()) as Answer['body']).error],
        [path, status, 'string'],
      )
    }
  })
}

test('the served document equals the built one, and without app it has no /app routes', async (t) => {
  const { url } = await startOperator(t)
  const document = await documentOf(url)
  const built = operatorDocuments({ admin: [], app: [], status: [], receipts: [] }).openApi() as Answer['body']
  assert.deepEqual(document.info, built.info)
  assert.equal(
    Object.keys(document.paths).some((path) => path.startsWith('/app')),
    false,
  )
  for (const { path } of operatorOperations) assert.deepEqual(document.paths[path], built.paths[path])
  for (const [name, schema] of Object.entries(built.components.schemas))
    assert.deepEqual(document.components.schemas[name], schema)
})

/** Whether a value matches a schema of the document, with its references. */
function fits({ components }: Answer['body'], schema: object, value: unknown): boolean {
  return Check({ ...schema, components } as object, value)
}

const requestOf = (document: Answer['body'], path: string): object =>
  document.paths[path].post.requestBody.content['application/json'].schema
const responseOf = (document: Answer['body'], path: string, status: number): object =>
  document.paths[path].post.responses[status].content['application/json'].schema

test('requests and answers of the send endpoints match the document', async (t) => {
  const { url } = await startOperator(t)
  const document = await documentOf(url)
  for (const path of [
    '/channels/push/single',
    '/channels/push/batch',
    '/channels/site/single',
    '/channels/site/batch',
  ]) {
    const batch = path.endsWith('batch')
    const body = batch ? [element(), element({ id: '77', action_id: null })] : element()
    assert.ok(fits(document, requestOf(document, path), body), path)
    for (const wrong of [batch ? element() : [element()], batch ? [{}] : {}, 'text'])
      assert.equal(fits(document, requestOf(document, path), wrong), false, path)
    const delivered = await post(url + path, body)
    assert.ok(fits(document, responseOf(document, path, delivered.status), delivered.body), `${path} ${delivered.text}`)
    assert.equal(fits(document, responseOf(document, path, 200), { error: 'no' }), false)
    for (const [sent, key] of [
      ['no JSON', keys.one.key],
      [body, 'nobody'],
    ] as const) {
      const refused = await post(url + path, sent, key)
      assert.ok(refused.status >= 400)
      assert.ok(fits(document, responseOf(document, path, refused.status), refused.body), `${path} ${refused.text}`)
    }
  }
  const unknown = await post(`${url}/reconciliation`, { field: 'blocked' }, keys.one.key)
  assert.equal(unknown.status, 501)
  assert.ok(fits(document, responseOf(document, '/reconciliation', 501), unknown.body))
})

test("a link, its answer and its error answers match the platform's document", async (t) => {
  const url = await platformUrl(t)
  const document = await documentOf(url)
  for (const { path } of [deviceLink, deviceUnlink]) {
    const record = {
      user_id: '1001',
      tokens: [{ token: 't', channel: 'ios', provider: 'apns', environment: 'sandbox' }],
      timestamp: '2026-01-01T10:00:00Z',
      origin: 'www',
    }
    assert.ok(fits(document, requestOf(document, path), record))
    assert.equal(fits(document, requestOf(document, path), { ...record, user_id: undefined, tokens: 't' }), false)
    const accepted = await post(url + path, record, service.key)
    assert.deepEqual([accepted.status, fits(document, responseOf(document, path, 200), accepted.body)], [200, true])
    for (const [sent, key] of [
      [{}, service.key],
      [record, 'nobody'],
      [record, adminKey.key],
    ] as const) {
      const refused = await post(url + path, sent, key)
      assert.ok(fits(document, responseOf(document, path, refused.status), refused.body), refused.text)
    }
  }
})

test('every endpoint of the interface has an example that matches its schema and is accepted', async (t) => {
  const operator = await startOperator(t, {})
  for (const { path, example } of operatorOperations) {
    const document = await documentOf(operator.url)
    assert.deepEqual(document.paths[path].post.requestBody.content['application/json'].example, example)
    assert.ok(fits(document, requestOf(document, path), example), path)
    const { status } = await post(operator.url + path, example, keys.one.key)
    assert.equal(status, path === '/reconciliation' ? 501 : 200, path)
  }
  const platform = await platformUrl(t)
  const send = (path: string, body: object) =>
    path === messageStatusPath ? report(platform, body) : post(platform + path, body, service.key)
  for (const { path, example } of platformOperations) {
    const document = await documentOf(platform)
    const { status, body } = await send(path, example)
    assert.deepEqual([status, fits(document, responseOf(document, path, 200), body)], [200, true], path)
    assert.ok(fits(document, requestOf(document, path), example), path)
  }
})

test('the document names its own address, and for all public routes the public address', async (t) => {
  const publicUrl = 'https://operator.example/api'
  const { url } = await startOperator(t, { publicUrl, app: { secrets: [secret] }, status: {} })
  const document = await documentOf(url)
  assert.deepEqual(document.servers, [{ url }])
  assert.deepEqual(document.paths['/channels/push/batch'].post.servers, [{ url: publicUrl }])
  for (const path of ['/app/inbox', '/app/devices', '/app/status', '/messages/status'])
    assert.deepEqual((document.paths[path].get ?? document.paths[path].post).servers, [{ url: publicUrl }], path)
  assert.equal(document.paths['/admin/summary'].get.servers, undefined)
})

test("requests and answers of /app match the operator's document", async (t) => {
  const url = await operatorUrl(t)
  const document = await documentOf(url)
  const bearer = { authorization: `Bearer ${await createSubscriberToken({ secret, brand: '1', userId: '1001' })}` }
  await post(`${url}/channels/site/single`, element())
  const inbox = (await (await fetch(`${url}/app/inbox`, { headers: bearer })).json()) as Answer['body']
  assert.equal(inbox.items.length, 1)
  const schema = document.paths['/app/inbox'].get.responses[200].content['application/json'].schema
  assert.ok(fits(document, schema, inbox))
  const tokens = { tokens: [{ token: 't', provider: 'apns' }] }
  assert.ok(fits(document, requestOf(document, '/app/devices/link'), tokens))
  assert.equal((await post(`${url}/app/devices/link`, tokens, undefined, bearer)).text, '{"accepted":1}')
  const own = (await (await fetch(`${url}/app/devices`, { headers: bearer })).json()) as Answer['body']
  assert.equal(own.devices.length, 1)
  assert.ok(fits(document, document.paths['/app/devices'].get.responses[200].content['application/json'].schema, own))
  for (const wrong of [
    { tokens: [{ provider: 'apns' }] },
    { ...tokens, origin: 'x' },
    { tokens: Array(21).fill('t') },
  ]) {
    assert.equal(fits(document, requestOf(document, '/app/devices/link'), wrong), false)
    assert.equal((await post(`${url}/app/devices/link`, wrong, undefined, bearer)).status, 400)
  }
  assert.deepEqual(Object.keys(document.paths['/app/inbox/stream'].get.responses[200].content), ['text/event-stream'])
})

// All other tests that call /admin also compare the answer with the document: test/support/documented.ts.
test('the summary and a resumed lane of the platform match the document', async (t) => {
  const url = await platformUrl(t)
  await post(`${url}/admin/activities/push`, element(), adminKey.key)
  const { body } = await get(`${url}/admin/summary`)
  assert.deepEqual(Object.keys(body.lanes), ['1/push'])
  const lane = await post(`${url}/admin/lanes/resume`, { lane: '1/push' }, adminKey.key)
  assert.deepEqual([lane.body.ended, lane.body.lanes[0].name], [0, '1/push'])
})

test('every endpoint of the interface has a summary, a description and its error statuses', () => {
  const document = openApi({
    title: 'x',
    description: 'x',
    operations: operatorOperations,
    groups: [],
  }) as Answer['body']
  for (const { path, purpose, refusals, ...operation } of [...operatorOperations] as InterfaceOperation[]) {
    const { summary, description, responses, security } = document.paths[path].post
    assert.deepEqual([summary, description], [purpose, operation.description])
    assert.deepEqual(security, [{ ApiKey: [] }, { ApiKeyAsBearer: [] }, { ApiKeyAsBasic: [] }])
    assert.deepEqual(Object.keys(responses), ['200', ...Object.keys(refusals)])
    assert.ok(responses[503].headers['Retry-After'])
  }
})
