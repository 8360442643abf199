import assert from 'node:assert/strict'
import { createServer as createHttpServer } from 'node:http'
import { createServer, type Socket } from 'node:net'
import test, { type TestContext } from 'node:test'
import type { Fatal } from '../../src/contract/outcome.ts'
import { type LaneShape, operatorApi } from '../../src/subjects/providers/operator-api.ts'
import type { Provider, Result } from '../../src/subjects/providers/provider.ts'
import { message, messages, providerSuite } from '../suites/provider.ts'
import { contextOf } from '../support/context.ts'
import { freePort } from '../support/free-port.ts'
import { listenLocally } from '../support/listen-locally.ts'
import { event, until } from '../support/wait.ts'
import { startFakeOperator } from './fake-operator.ts'

function api(t: TestContext, url: string, over: Partial<LaneShape> = {}): Provider {
  const lane = { channel: 'push', mode: 'batch', max: 10, concurrency: 64, ...over } as const
  const provider = operatorApi({ url, apiKey: 'the key' })(lane)
  t.after(() => provider.close?.())
  return provider
}

let identifiers = 0
const accept = (t: TestContext) =>
  startFakeOperator(t, ({ path, body }, response) => {
    const identifier = path.includes('/site/') ? 'site_notification_id' : 'push_id'
    const read = JSON.parse(body)
    const done = (element: { activity: { id: number } }) => ({
      id: element.activity.id,
      [identifier]: `p${identifiers++}`,
    })
    response.end(
      JSON.stringify(Array.isArray(read) ? { successful: read.map(done), failed: [], fatal: [] } : done(read)),
    )
  })
/** An operator with the same answer for every request. */
const startConstantOperator = (
  t: TestContext,
  status: number,
  body = '{"error":"refused by the test"}',
  headers: Record<string, string> = {},
) => startFakeOperator(t, (_received, response) => response.writeHead(status, headers).end(body))

const startSilentOperator = (t: TestContext) => startFakeOperator(t, () => {})

for (const mode of ['single', 'batch'] as const) {
  providerSuite({
    name: `operator-api, ${mode}`,
    accepting: async (t) => api(t, (await accept(t)).url, { mode }),
    silent: async (t) => api(t, (await startSilentOperator(t)).url, { mode }),
  })
}

test('§4.1, §5: a batch has the unchanged texts of the messages, the key, and the path of the base URL', async (t) => {
  const { url, received } = await accept(t)
  const odd = message(1, {
    text: '{ "activity" : {"id":1, "n": 1e400, "brand_id":1,"user_id":"1001"}, "title":"\\u00e9 é" }',
    context: { traceparent: '00-1-1-01' },
  })
  const [first, second] = await api(t, `${url}/integration/v2/`).send([odd, message(2)], contextOf())
  assert.deepEqual([first?.ref?.[0], second?.ref?.[0], first?.rule], ['p', 'p', '§7.2.2 successful'])
  const { method, path, headers, body } = received[0] as (typeof received)[0]
  assert.deepEqual(
    [method, path, body],
    ['POST', '/integration/v2/channels/push/batch', `[${odd.text},${message(2).text}]`],
  )
  assert.deepEqual(
    [headers['x-api-key'], headers['content-type'], headers.traceparent],
    ['the key', 'application/json', '00-1-1-01'],
  )
  assert.equal(headers['x-fasttrack-id'], undefined)
})

test('§4.1: a single request has the message’s text as its body and the tracking headers of its record', async (t) => {
  const { url, received } = await accept(t)
  const text =
    '{"activity":{"id":9007199254740993,"brand_id":2,"user_id":"1001","activity_id":7,"action_group_id":8,"trigger_hash":"h4sh","action_id":9}}'
  const [result] = await api(t, url, { mode: 'single', channel: 'site' }).send(
    [message(1, { channel: 'site', brand: '2', text })],
    contextOf(),
  )
  assert.deepEqual([result?.category, result?.ref?.[0]], ['successful', 'p'])
  const { path, headers, body } = received[0] as (typeof received)[0]
  assert.deepEqual([path, body], ['/channels/site/single', text])
  const tracking = Object.entries(headers).filter(([name]) => name.startsWith('x-fasttrack-'))
  assert.deepEqual(Object.fromEntries(tracking), {
    'x-fasttrack-id': '9007199254740993',
    'x-fasttrack-triggerhash': 'h4sh',
    'x-fasttrack-activityid': '7',
    'x-fasttrack-actionid': '9',
    'x-fasttrack-actiongroupid': '8',
  })
})

test('a value that is not valid in a header is only in the body', async (t) => {
  const { url, received } = await accept(t)
  const text = message(1).text.replace('"hash"', '"日本 7"')
  const [result] = await api(t, url, { mode: 'single' }).send([message(1, { text })], contextOf())
  assert.equal(result?.category, 'successful')
  assert.equal(received[0]?.headers['x-fasttrack-triggerhash'], undefined)
  assert.equal(received[0]?.headers['x-fasttrack-id'], '1')
})

test('a trigger hash with spaces or tabs inside is sent in its header', async (t) => {
  const { url, received } = await accept(t)
  for (const hash of ['welcome bonus 7', 'a\tb']) {
    const text = message(1).text.replace('"hash"', '"x"')
    await api(t, url, { mode: 'single' }).send(
      [message(1, { text, context: { tracking: { 'x-fasttrack-triggerhash': hash } } })],
      contextOf(),
    )
    assert.equal(received.at(-1)?.headers['x-fasttrack-triggerhash'], hash)
  }
  await api(t, url, { mode: 'single' }).send(
    [message(2, { text: message(2).text.replace('"hash"', '"welcome bonus"') })],
    contextOf(),
  )
  assert.equal(received.at(-1)?.headers['x-fasttrack-triggerhash'], 'welcome bonus')
  await api(t, url, { mode: 'single' }).send(
    [message(3, { text: message(3).text.replace('"hash"', '" hash"') })],
    contextOf(),
  )
  assert.equal(received.at(-1)?.headers['x-fasttrack-triggerhash'], undefined, 'a space at the ends would be lost')
})

test('tracking in the context of a message is sent', async (t) => {
  const { url, received } = await accept(t)
  const context = { tracking: { 'x-fasttrack-id': 'theirs', 'x-fasttrack-actioncommunicationprofileid': '4' } }
  await api(t, url, { mode: 'single' }).send([message(1, { context })], contextOf())
  assert.partialDeepStrictEqual(received[0]?.headers, { ...context.tracking, 'x-fasttrack-activityid': '7' })
})

// Every other status: test/contract/answer.test.ts.
for (const [mode, status, blame] of [
  ['single', 302, 'provider'],
  ['single', 500, 'call'],
  ['batch', 302, 'provider'],
  ['batch', 422, 'call'],
] as const) {
  test(`§7: ${status} on a ${mode} request is fatal for all, the ${blame} to blame, and Retry-After is read`, async (t) => {
    const headers = { location: '/elsewhere', 'retry-after': '7' }
    const { url, received } = await startConstantOperator(t, status, undefined, headers)
    const results = await api(t, url, { mode }).send(messages(mode === 'single' ? 1 : 3), contextOf())
    assert.equal(results.length, mode === 'single' ? 1 : 3)
    for (const result of results) {
      assert.partialDeepStrictEqual(result, { category: 'fatal', blame, retryAfterMs: 7_000 })
      assert.equal('uncertain' in result, false)
    }
    assert.equal(received.length, 1, 'redirects are never followed')
  })
}

test('§7.2.2: each message gets its category, an absent message is fatal, and anomalies are reported', async (t) => {
  const answer = {
    successful: [{ id: 1, push_id: 'p1' }],
    failed: [{ id: 2, error: 'no' }],
    fatal: [{ id: '3' }, { id: 99 }],
  }
  const { url } = await startConstantOperator(t, 200, JSON.stringify(answer))
  const warning = event('answer.warning')
  const results = await api(t, url).send(messages(4), contextOf())
  assert.deepEqual(
    results.map(({ category, rule }) => `${category}: ${rule}`),
    ['successful: §7.2.2 successful', 'failed: §7.2.2 failed', 'fatal: §7.2.2 fatal', 'fatal: §7.2.2 absent'],
  )
  assert.match((await warning).warning, /99/)
  assert.deepEqual(
    results.map((result) => result.answer ?? result.callAnswer),
    [JSON.stringify(answer), undefined, undefined, undefined],
  )
})

/** A server that runs an action on each connection after the first data. */
async function startSocketServer(t: TestContext, action: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => action(socket))
  })
  return (await listenLocally(t, server)).url
}
const only = async (provider: Provider, ms?: number, signal?: AbortSignal): Promise<Result> =>
  (await provider.send(messages(1), contextOf(ms, signal)))[0] as Result

test('row 8: if the answer is lost after the request was written, the message is uncertain', async (t) => {
  const head = 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n'
  const ways = [
    await startSocketServer(t, (socket) => socket.resetAndDestroy()),
    await startSocketServer(t, (socket) => socket.end()),
    await startSocketServer(t, (socket) => socket.end(`${head}{"succ`)),
    await startSocketServer(t, (socket) => socket.end('HTTP/9 nonsense\r\n\r\n')),
  ]
  for (const url of ways) {
    for (const mode of ['single', 'batch'] as const) {
      const result = await only(api(t, url, { mode }))
      assert.partialDeepStrictEqual(result, {
        category: 'fatal',
        reason: 'unavailable',
        blame: 'provider',
        uncertain: true,
        rule: 'row 8: answer lost',
      })
    }
  }
})

for (const lose of ['resetAndDestroy', 'end'] as const)
  test(`a reused connection that the operator has closed (${lose}) is no outage: the request is repeated once on a new one`, async (t) => {
    const requestsOf = new Map<Socket, number>()
    const server = createHttpServer((request, response) => {
      const { socket } = request
      const ofConnection = (requestsOf.get(socket) ?? 0) + 1
      const isFirst = requestsOf.size === 0 || requestsOf.keys().next().value === socket
      requestsOf.set(socket, ofConnection)
      // The first connection answers once, and is lost with the next request.
      if (isFirst && ofConnection > 1) return void socket[lose]()
      request.resume().on('end', () => response.end('{"push_id":"p1"}'))
    })
    const { url } = await listenLocally(t, server)
    const provider = api(t, url, { mode: 'single' })
    assert.equal((await only(provider)).category, 'successful')
    await new Promise(setImmediate) // the connection is free only then
    assert.equal((await only(provider)).category, 'successful')
    assert.deepEqual([...requestsOf.values()], [2, 1])
  })

test('row 8: a reused connection that is lost within the answer is an outage', async (t) => {
  let requests = 0
  const url = await startSocketServer(t, (socket) => {
    const answer = (): void => {
      const body = requests++ === 0 ? '{"push_id":"p1"}' : '{"push'
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 16\r\n\r\n${body}`)
      if (requests > 1) socket.end()
    }
    answer()
    socket.on('data', answer)
  })
  const provider = api(t, url, { mode: 'single' })
  assert.equal((await only(provider)).category, 'successful')
  assert.partialDeepStrictEqual(await only(provider), {
    category: 'fatal',
    uncertain: true,
    rule: 'row 8: answer lost',
  })
  assert.equal(requests, 2, 'it is not repeated here')
})

test('row 8: without a connection the message has not arrived', async (t) => {
  const port = await freePort()
  const tls = await startSocketServer(t, (socket) => socket.end('this is no TLS'))
  for (const url of [`http://127.0.0.1:${port}`, 'http://nowhere.invalid', tls.replace('http:', 'https:')]) {
    const result = await only(api(t, url))
    assert.partialDeepStrictEqual(result, {
      category: 'fatal',
      blame: 'provider',
      rule: 'row 8: no connection',
      unconnected: true,
    })
    assert.equal('uncertain' in result, false, url)
  }
})

test('a message is uncertain if its request is aborted after it was written, not while it waits for a connection', async (t) => {
  const { url, received } = await startFakeOperator(t, () => {})
  // A server that never answers the TLS handshake.
  const handshake = Promise.withResolvers<Socket>()
  const connecting = await startSocketServer(t, (socket) => handshake.resolve(socket))
  const abortWhen = async (address: string, ready: () => Promise<unknown>): Promise<Fatal> => {
    const stop = new AbortController()
    const sent = api(t, address, { mode: 'single' }).send([message(1)], contextOf(10_000, stop.signal))
    await ready()
    stop.abort()
    return (await sent)[0] as Fatal
  }
  const written = await abortWhen(url, () => until(() => received.length === 1, { awaited: 'the request is written' }))
  assert.equal(written.uncertain, true)
  const waiting = await abortWhen(connecting.replace('http:', 'https:'), () => handshake.promise)
  ;(await handshake.promise).destroy()
  assert.deepEqual([waiting.category, waiting.uncertain], ['fatal', undefined])
})

test('an endless answer is cut off: the status decides about a single message, and a batch is fatal', async (t) => {
  const endless = () =>
    startFakeOperator(t, (_received, response) => {
      response.writeHead(200)
      const more = (): void => {
        if (!response.destroyed) response.write('x'.repeat(1_000_000), () => setImmediate(more))
      }
      more()
    })
  assert.equal((await only(api(t, (await endless()).url, { mode: 'single' }))).category, 'successful')
  assert.partialDeepStrictEqual(await only(api(t, (await endless()).url)), {
    category: 'fatal',
    reason: 'nonsense',
    blame: 'provider',
    uncertain: true,
  })
})

test('check() sends an empty batch, and reports whether the operator answers and accepts the key', async (t) => {
  const findingOf = async (mode: 'single' | 'batch', status: number, body: string): Promise<string> => {
    const { url, received } = await startConstantOperator(t, status, body)
    const [first] = (await api(t, `${url}/base`, { mode }).check?.()) ?? []
    assert.partialDeepStrictEqual(received, [{ path: '/base/channels/push/batch', body: '[]' }])
    return `${first?.ok} ${first?.description.replace(/http:\S+/, 'it')}; ${first?.remedy}`
  }
  const empty = '{"successful":[],"failed":[],"fatal":[]}'
  assert.match(await findingOf('batch', 200, empty), /^true it answers and accepts the key/)
  assert.match(await findingOf('single', 200, '{"successful":[]}'), /^true it answers and accepts the key/)
  assert.match(await findingOf('batch', 401, '{}'), /^false it refuses the key \(401\); set api_key/)
  assert.match(await findingOf('single', 401, '{}'), /^false it refuses the key/)
  assert.match(await findingOf('batch', 404, '{}'), /^false .*with 404.*check the path of url.*POST \/base\/channels/)
  assert.match(await findingOf('single', 404, '{}'), /^true it answers \(404\); .*cannot be checked/)
  assert.match(
    await findingOf('batch', 503, '{"error":"no provider"}'),
    /^false .*503: \{"error":"no provider"}; report it to the operator/,
  )
  for (const odd of ['[]', '{}', 'null', '"x"', '<html>', '{"successful":[1]}'])
    assert.match(await findingOf('batch', 200, odd), /^false .*report it to the operator/)
  const [down] = (await api(t, 'http://127.0.0.1:1').check?.()) ?? []
  assert.equal(down?.ok, false)
  assert.match(down?.remedy ?? '', /check url/)
})

test('check() reports a clock that is wrong by more than a minute', async (t) => {
  const off = (ms: number) => startConstantOperator(t, 401, '{}', { date: new Date(Date.now() + ms).toUTCString() })
  const [, behind] = (await api(t, (await off(300_000)).url).check?.()) ?? []
  assert.match(behind?.description ?? '', /clock is (299|300|301) s behind http/)
  const [, fine] = (await api(t, (await off(50_000)).url).check?.()) ?? []
  assert.equal(fine?.ok, true)
})
