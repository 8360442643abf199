// Every address of the settings is called through a proxy, at a server of a private authority, with a client certificate, and with
// each authentication.

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import test, { type TestContext } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { operatorOptions, platformOptions } from '../../src/sides/config/compose/compose.ts'
import type { OperatorConfig, PlatformConfig } from '../../src/sides/config/table.ts'
import type { DeviceSource } from '../../src/subjects/devices/device-source.ts'
import type { Provider } from '../../src/subjects/providers/provider.ts'
import type { PushService } from '../../src/subjects/providers/push-service.ts'
import { makeCertificate } from '../../src/tools/stand-ins/certificate.ts'
import { loadText } from '../config/load-text.ts'
import { message } from '../suites/provider.ts'
import { connectProxy } from '../support/connect-proxy.ts'
import { contextOf } from '../support/context.ts'
import { listenLocally } from '../support/listen-locally.ts'
import { adminKey, element, post, startPlatform, temporary } from '../support/sides.ts'
import { until } from '../support/wait.ts'

const webhookSecret = `whsec_${Buffer.from('secret-of-the-webhook-24').toString('base64')}`
const basic = (pair: string): string => `Basic ${Buffer.from(pair).toString('base64')}`

/** Each authentication, as it is written in the settings, and the header that arrives. */
const authentications: Readonly<Record<string, readonly [name: string, value: string]>> = {
  '{header: X-Gateway, value: value-of-the-header}': ['x-gateway', 'value-of-the-header'],
  '{basic: ann, password: "p:w"}': ['authorization', basic('ann:p:w')],
  '{bearer: token-of-bearer}': ['authorization', 'Bearer token-of-bearer'],
  '{oauth2: "ORIGIN/token", client_id: id, client_secret: s, scope: push}': ['authorization', 'Bearer issued'],
}
/** Every address. */
const called = [
  '/attributes',
  '/callback/',
  '/device/send',
  '/devices',
  '/holders',
  '/lane/channels/push/batch',
  '/lane/messages/status',
  '/links/v1/integration/user/device/link',
  '/list/reconciliation',
  '/statuses/v1/integration/message/status',
  '/user/send',
]

for (const [auth, [header, value]] of Object.entries(authentications)) {
  test(`every address is called through the proxy, with the private authority, the client certificate and auth: ${auth}`, async (t) => {
    const stage = await startServer(t)
    const settings = `auth: ${auth.replace('ORIGIN', stage.origin)}, ${stage.connection}`
    await callEveryAddress(t, stage, settings)
    assert.deepEqual([...stage.requests.keys()].filter((path) => path !== '/token').sort(), called)
    for (const [path, headers] of stage.requests) {
      assert.equal(headers.tenant, '1', `${path}: the query of the address`)
      if (path === '/token') assert.equal(headers.authorization, basic('id:s'))
      else assert.equal(headers[header], value, path)
    }
    assert.equal(stage.requests.has('/token'), auth.includes('oauth2'))
    const { host } = new URL(stage.origin)
    assert.equal(stage.proxy.tunnels.length, stage.connections(), 'no connection was direct')
    for (const tunnel of stage.proxy.tunnels)
      assert.deepEqual(tunnel, { to: host, authorization: basic('ann:of the proxy') })
  })
}

test('a server without the private authority, or that gets no client certificate, is not called', async (t) => {
  const stage = await startServer(t)
  for (const [without, reason] of [
    [/ca: [^,]+, /, /self.signed|SELF_SIGNED/],
    [/client_\w+: [^,]+(, )?/g, /certificate required|alert|closed|reset|socket/i],
  ] as const) {
    const settings = stage.connection.replace(without, '').replace(/, $/, '')
    const { attributes } = await loadText(
      t,
      `operator:
  keys: [{name: platform, key: operator-key-000000000001, brands: [1]}]
  attributes: [{http: "${stage.origin}/attributes", fields: [blocked], ${settings}}]`,
    ).then(operator)
    t.after(() => attributes?.close?.())
    await assert.rejects(async () => attributes?.among('1', ['1001'], ['blocked'], contextOf(60_000)), reason)
  }
  assert.equal(stage.requests.size, 0)
})

test('a client certificate without its key, and a key of another certificate, are refused at the start', async (t) => {
  const stage = await startServer(t)
  const other = join(await temporary(t), 'other.pem')
  await writeFile(other, makeCertificate().key)
  for (const [settings, path, description] of [
    [stage.connection.replace(/, client_key: .*/, ''), 'client_key', /missing, although client_certificate is set/],
    [stage.connection.replace(/client_key: .*/, `client_key: ${other}`), 'client_key', /does not fit the certificate/],
  ] as const) {
    const config = await loadText(
      t,
      `platform:
  lanes: [{brand: 1, channel: push, to: {provider: operator-api, url: "https://operator.example", api_key: k, ${settings}}}]`,
    )
    await assert.rejects(
      platformOptions(config.platform as PlatformConfig),
      (error: { problems: { path: string }[] }) => {
        assert.equal(error.problems[0]?.path, `platform.lanes[0].to.${path}`)
        assert.match(JSON.stringify(error.problems[0]), description)
        return true
      },
    )
  }
})

test('an operator and a platform need an API key or auth', async (t) => {
  await assert.rejects(
    loadText(
      t,
      `
platform:
  lanes: [{brand: 1, channel: push, to: {provider: operator-api, url: "https://operator.example"}}]
  reconciliation: [{brand: 1, url: "https://operator.example", fields: [blocked]}]
operator:
  keys: [{name: platform, key: operator-key-000000000001, brands: [1]}]
  suppression: none
  publish: [{brand: 1, to: {rest: "https://platform.example"}}]`,
    ),
    (error: { problems: { path: string }[] }) => {
      const paths = ['operator.publish[0].to', 'platform.lanes[0].to', 'platform.reconciliation[0]']
      assert.deepEqual(
        error.problems.map(({ path }) => path).sort(),
        paths.map((path) => `${path}.api_key`),
      )
      return true
    },
  )
})

/** Calls each address once, as the two sides do. */
async function callEveryAddress(t: TestContext, { origin }: Stage, settings: string): Promise<void> {
  const config = await loadText(
    t,
    `
platform:
  lanes:
    - {brand: 1, channel: push, to: {provider: operator-api, url: "${origin}/lane?tenant=1", ${settings}}, status: {poll: 1h}}
  reconciliation: [{brand: 1, url: "${origin}/list/?tenant=1", fields: [blocked], ${settings}}]
operator:
  keys: [{name: platform, key: operator-key-000000000001, brands: [1, 2]}]
  attributes: [{http: "${origin}/attributes?tenant=1", fields: [blocked], ${settings}}]
  push:
    devices:
      source: {http: "${origin}/devices?tenant=1", holders: "${origin}/holders?tenant=1", ${settings}}
      services: [{provider: http, name: pager, url: "${origin}/device/send?tenant=1", body: {}, ${settings}}]
  publish: [{brand: 1, to: {rest: "${origin}/links?tenant=1", ${settings}}}]
  status:
    webhooks:
      - {brand: 1, to: {webhook: "${origin}/statuses?tenant=1", secrets: [${webhookSecret}], ${settings}}}
      - {brand: 2, to: {callback: "${origin}/callback/?tenant=1", ${settings}}}`,
  )
  const lookUp = contextOf(60_000)
  const options = await operator(config)
  const { attributes, publish: [publishing] = [], status } = options
  const push = options.push as unknown as { devices: { source: DeviceSource; services: PushService[] } }
  const {
    source,
    services: [pager],
  } = push.devices
  const perUser = await loadText(
    t,
    `
operator:
  keys: [{name: platform, key: operator-key-000000000001, brands: [1]}]
  suppression: none
  push: {provider: http, url: "${origin}/user/send?tenant=1", body: {}, ${settings}}`,
  )
  const provider = (await operator(perUser)).push as Provider
  await attributes?.among('1', ['1001'], ['blocked'], lookUp)
  await source.findDevices('1', ['1001'], lookUp)
  await source.findHolders?.('1', ['token'], lookUp)
  const device = { brand: '1', userId: '1001', kind: 'http:pager', token: 'token', linkedAt: '' } as const
  await pager?.send({ ref: 'r', device, content: { title: 'Hello' }, expiresAt: lookUp.deadline }, lookUp)
  await provider.send([message(1)], lookUp)
  await publishing?.publisher.publish([{ id: '1', what: 'link', userId: '1001', body: '{}' }], lookUp)
  const meta = JSON.stringify({ activity: { id: 1 } })
  const record = { channel: 'push', ref: 'r', status: 'delivered', at: '2026-01-01T00:00:00Z', meta } as never
  for (const { sender } of status?.webhooks ?? []) await sender.send([record], lookUp)
  const { store: _, ...rest } = await platformOptions(config.platform as PlatformConfig)
  const platform = await startPlatform(t, { ...rest, keys: [adminKey], lanes: [...rest.lanes] })
  await post(`${platform.url}/admin/activities/push`, [element()], adminKey.key)
  await post(`${platform.url}/admin/reconciliations`, { brand: '1', field: 'blocked' }, adminKey.key)
  await until(() => requested.size >= called.length, { awaited: 'every address is called' })
  await platform.stop()
  const closing = [attributes, source, pager, provider, publishing?.publisher]
  await Promise.all(closing.map((each) => each?.close?.()))
  await Promise.all((status?.webhooks ?? []).map(({ sender }) => sender.close()))
}

let requested = new Set<string>()

const operator = (config: Awaited<ReturnType<typeof loadText>>) => operatorOptions(config.operator as OperatorConfig)

type Stage = Awaited<ReturnType<typeof startServer>>

/** A server of a private authority that wants a client certificate, and plays every party. */
async function startServer(t: TestContext) {
  const [own, client] = [makeCertificate(), makeCertificate('client')]
  const requests = new Map<string, Readonly<Record<string, string | undefined>>>()
  requested = new Set()
  let connections = 0
  const options = { ...own, requestCert: true, rejectUnauthorized: true, ca: client.cert }
  const server = createServer(options, async (request, response) => {
    assert.ok((request.socket as TLSSocket).authorized)
    const { pathname, searchParams } = new URL(request.url ?? '', 'https://server')
    const headers = request.headers as Record<string, string>
    requests.set(pathname, { ...headers, tenant: pathname === '/token' ? '1' : (searchParams.get('tenant') ?? '') })
    if (pathname !== '/token') requested.add(pathname)
    answer(pathname, await text(request), response)
  })
  server.on('connection', () => connections++)
  const { port } = await listenLocally(t, server)
  const proxy = await connectProxy(t)
  const folder = await temporary(t)
  for (const [name, pem] of Object.entries({ ca: own.cert, certificate: client.cert, key: client.key }))
    await writeFile(join(folder, `${name}.pem`), pem)
  const connection = `proxy: "${proxy.url('ann', 'of the proxy')}", ca: ${folder}/ca.pem, client_certificate: ${folder}/certificate.pem, client_key: ${folder}/key.pem`
  const origin = `https://127.0.0.1:${port}`
  return { origin, requests, connection, proxy, connections: () => connections }
}

function answer(path: string, body: string, response: ServerResponse<IncomingMessage>): void {
  const answers: Readonly<Record<string, () => object>> = {
    '/token': () => ({ access_token: 'issued', expires_in: 3600 }),
    '/lane/channels/push/batch': () => ({
      successful: (JSON.parse(body) as { activity: { id: number } }[]).map(({ activity: { id } }) => ({
        id,
        push_id: 'p',
      })),
      failed: [],
      fatal: [],
    }),
    '/lane/messages/status': () => ({ records: [], next: 'c' }),
    '/list/reconciliation': () => ({ users: [], timestamp: new Date().toISOString() }),
    '/attributes': () => ({ blocked: [] }),
    '/devices': () => ({ devices: [] }),
    '/holders': () => ({ devices: [] }),
  }
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(answers[path]?.() ?? { accepted: 1 }))
}
