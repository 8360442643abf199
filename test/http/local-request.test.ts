import assert from 'node:assert/strict'
import { type IncomingMessage, request } from 'node:http'
import { networkInterfaces } from 'node:os'
import test from 'node:test'
import { isLocalRequest, judgeLocalRequest } from '../../src/base/http/local-request.ts'
import type { Clients } from '../../src/tools/demo/clients.ts'
import type { Journal } from '../../src/tools/demo/journal.ts'
import { startPageServer } from '../../src/tools/demo/page-server.ts'
import type { Phones } from '../../src/tools/demo/phones.ts'
import { createRecords } from '../../src/tools/demo/records.ts'
import type { Servers } from '../../src/tools/demo/servers.ts'
import { startFakeOperator } from '../../src/tools/fake/fake-operator.ts'
import { startStandIns } from '../../src/tools/stand-ins/all.ts'
import { startControl } from '../../src/tools/stand-ins/control.ts'

type Headers = Readonly<Record<string, string>>

/** Headers that a browser sends for pages of other sites; each case has one suspicious header. PORT is the server's port. */
const foreignRequests: readonly (readonly [from: string, headers: Headers, status: number])[] = [
  ['a host name rebound to 127.0.0.1', { host: 'evil.example' }, 403],
  ['a rebound host name with the port', { host: 'evil.example:PORT', 'sec-fetch-site': 'same-origin' }, 403],
  ['a host name that begins with an address', { host: '127.0.0.1.evil.example:PORT' }, 403],
  ['a host name that ends like ours', { host: 'notlocalhost:PORT' }, 403],
  ['a host name after an address and @', { host: '127.0.0.1:PORT@evil.example:PORT' }, 403],
  ['another port', { host: '127.0.0.1:1' }, 403],
  ['no port', { host: '127.0.0.1' }, 403],
  ['another site', { origin: 'https://evil.example' }, 403],
  ['another port of this machine', { origin: 'http://127.0.0.1:1' }, 403],
  ['a frame without an origin', { origin: 'null' }, 403],
  ['another site, without an origin', { 'sec-fetch-site': 'cross-site' }, 403],
  ['another server of this machine', { 'sec-fetch-site': 'same-site' }, 403],
]
const types: readonly Headers[] = [
  { 'content-type': 'text/plain' },
  { 'content-type': 'application/x-www-form-urlencoded' },
  { 'content-type': 'multipart/form-data; boundary=application/json' },
  { 'content-type': 'text/plain; application/json' },
  {},
]

test('a web page of another site can neither inject faults into the stand-ins nor read their devices', async (t) => {
  const standIns = await startStandIns()
  const control = await startControl(standIns)
  t.after(async () => {
    await control.close()
    await standIns.close()
  })
  const { token } = standIns.addDevice({ service: 'fcm' })
  const fault = '{"service":"fcm","every":1,"goaway":true}'
  await refusesForeignRequests(
    control.url,
    ['/', '/devices', '/shown', '/arrivals', '/faults'],
    ['/faults', '/devices'],
    fault,
  )
  for (const headers of [{ host: 'evil.example' }, { origin: 'https://evil.example' }])
    assert.equal((await sendRequest(control.url, 'DELETE', '/faults', headers)).status, 403)
  const faults = await sendRequest(control.url, 'GET', '/faults')
  assert.deepEqual(JSON.parse(faults.text), { faults: [] })
  assert.match((await sendRequest(control.url, 'GET', '/devices')).text, new RegExp(token))
  const made = await sendRequest(
    control.url,
    'POST',
    '/faults',
    { 'content-type': 'application/json; charset=utf-8' },
    fault,
  )
  assert.equal(made.status, 200)
})

test('the demo page can get tokens and send, a web page of another site cannot', async (t) => {
  const server = await startPageServer(0)
  t.after(() => server.close())
  let minted = 0
  server.connect({
    servers: { operator: { url: 'http://operator' } } as unknown as Servers,
    clients: { subscriberToken: async () => ({ token: `token ${++minted}` }) } as unknown as Clients,
    journal: { entries: [], onChange: () => () => {} } as Partial<Journal> as Journal,
    records: createRecords(server.url),
    phones: { list: [], onChange: () => () => {} } as Partial<Phones> as Phones,
  })
  const user = '{"brand":"1","user_id":"1001"}'
  const changes = ['/demo/token', '/demo/send', '/demo/phone', '/demo/act']
  await refusesForeignRequests(server.url, ['/demo/cast', '/demo/events', '/demo/way', '/demo/console'], changes, user)
  assert.equal(minted, 0)
  const { port } = new URL(server.url)
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `LOCALHOST:${port}`, `[::1]:${port}`]) {
    const headers = {
      host,
      origin: `http://${host}`,
      'sec-fetch-site': 'same-origin',
      'content-type': 'application/json',
    }
    assert.equal((await sendRequest(server.url, 'POST', '/demo/token', headers, user)).status, 200, host)
  }
  // Another site may link to the page.
  const linked = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }
  assert.equal((await sendRequest(server.url, 'GET', '/site', linked)).status, 200)
  assert.equal((await sendRequest(server.url, 'GET', '/', { host: 'evil.example' })).status, 403)
})

test('a fake that listens on all addresses obeys no other address, whatever Host it sends', async (t) => {
  const fake = await startFakeOperator({ host: '0.0.0.0', port: 0, apiKey: 'a-key-of-the-fake', brands: ['1'] })
  t.after(() => fake.close())
  const { port } = new URL(fake.url)
  const addresses = Object.values(networkInterfaces()).flatMap((each = []) => each)
  const outside = addresses.find(({ family, internal }) => family === 'IPv4' && !internal)
  assert.ok(outside, 'this machine needs an address besides the loopback addresses')
  const headers = { host: `localhost:${port}`, 'content-type': 'application/json' }
  for (const [method, path] of [
    ['GET', '/fake/arrivals'],
    ['POST', '/fake/behaviours'],
  ] as const)
    assert.equal((await sendRequest(`http://${outside.address}:${port}`, method, path, headers, '{}')).status, 403)
  assert.equal((await sendRequest(`http://127.0.0.1:${port}`, 'GET', '/fake/arrivals', headers)).status, 200)
})

test('a request at an address that other machines reach is not local, whatever Host it sends', () => {
  const isLocal = (localAddress: string): boolean =>
    isLocalRequest({ socket: { localAddress, localPort: 80 }, headers: { host: 'localhost' } } as IncomingMessage)
  assert.deepEqual([isLocal('127.0.0.1'), isLocal('192.0.2.2')], [true, false])
})

test('Host may omit port 80, and a request without Host is refused', () => {
  const judge = (headers: Headers, localPort: number, remoteAddress = '127.0.0.1') =>
    judgeLocalRequest({ method: 'GET', headers, socket: { remoteAddress, localPort } })?.status
  const statusOf = (host: string, port: number) => judge({ host }, port)
  assert.equal(judge({}, 80), 403)
  assert.equal(judge({ host: 'localhost' }, 80, '192.0.2.2'), 403)
  assert.equal(judge({ host: 'localhost' }, 80, '::ffff:127.0.0.1'), undefined)
  const statuses = [statusOf('localhost', 80), statusOf('localhost', 4680), statusOf('localhost:80', 80)]
  assert.deepEqual(statuses, [undefined, 403, undefined])
})

async function refusesForeignRequests(
  url: string,
  reads: readonly string[],
  changes: readonly string[],
  body: string,
): Promise<void> {
  const { port } = new URL(url)
  for (const [from, headers, status] of foreignRequests) {
    const sent = Object.fromEntries(
      Object.entries(headers).map(([name, text]) => [name, text.replaceAll('PORT', port)]),
    )
    for (const path of reads)
      assert.equal((await sendRequest(url, 'GET', path, sent)).status, status, `${path}: ${from}`)
    for (const path of changes) {
      const json = { 'content-type': 'application/json', ...sent }
      assert.equal((await sendRequest(url, 'POST', path, json, body)).status, status, `${path}: ${from}`)
    }
  }
  for (const path of changes)
    for (const headers of types)
      assert.equal(
        (await sendRequest(url, 'POST', path, headers, body)).status,
        415,
        `${path}: ${headers['content-type']}`,
      )
}

interface Answer {
  readonly status: number
  readonly text: string
}

/** Uses no fetch(), which sets Host and Origin itself. Does not wait for the end of an event stream. */
function sendRequest(url: string, method: string, path: string, headers: Headers = {}, body?: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const outgoing = request({ hostname, port, method, path, headers, agent: false }, (response) => {
      let text = ''
      const done = (): void => resolve({ status: response.statusCode as number, text })
      if (response.headers['content-type'] === 'text/event-stream') {
        done()
        response.destroy()
        return
      }
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', done)
    })
    outgoing.setTimeout(10_000, () => outgoing.destroy(new Error(`${path} was not answered within 10 s`)))
    outgoing.on('error', reject).end(body)
  })
}
