// Traces of both sides, received by a server that speaks OTLP over HTTP.

import assert from 'node:assert/strict'
import { copyFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import test, { type TestContext } from 'node:test'
import type { LaneOptions } from '../../src/sides/platform/options.ts'
import { operatorApi } from '../../src/subjects/providers/operator-api.ts'
import { startTracing, type Tracing } from '../../src/tools/cli/tracing.ts'
import { fencedSnippets, pages } from '../docs/blocks.ts'
import { freePort } from '../support/free-port.ts'
import { listenLocally } from '../support/listen-locally.ts'
import { accepted, away, device, deviceBook, witnessService } from '../support/push-services.ts'
import { adminKey, element, get, keys, post, startOperator, startPlatform, temporary } from '../support/sides.ts'
import { until } from '../support/wait.ts'
import { addressesOf, freePorts, start } from './bellwire.ts'

interface Span {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[]
  readonly status?: { readonly code?: number; readonly message?: string }
  readonly attributes: readonly { readonly key: string; readonly value: object }[]
  readonly service: string
}

interface ExportRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Span['attributes'] }
    readonly scopeSpans: readonly { readonly spans: readonly Omit<Span, 'service'>[] }[]
  }[]
}

/** A receiver of OTLP over HTTP with JSON. */
async function startReceiver(
  t: TestContext,
): Promise<{ readonly url: string; readonly spans: readonly Span[]; readonly paths: Set<string> }> {
  const spans: Span[] = []
  const paths = new Set<string>()
  const server = createServer(async (request, response) => {
    paths.add(request.url ?? '')
    const { resourceSpans } = JSON.parse(await text(request)) as ExportRequest
    for (const { resource, scopeSpans } of resourceSpans) {
      const service = String(readValue(resource.attributes, 'service.name'))
      for (const scope of scopeSpans) spans.push(...scope.spans.map((span) => ({ ...span, service })))
    }
    response.setHeader('content-type', 'application/json').end('{}')
  })
  const { url } = await listenLocally(t, server)
  return { url, spans, paths }
}

function readValue(attributes: Span['attributes'], key: string): unknown {
  const value = attributes.find((each) => each.key === key)?.value
  return value && Object.values(value)[0]
}
const attribute = (span: Span | undefined, key: string): unknown => span && readValue(span.attributes, key)

const secret = 'Your new flat'
const json = { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json', OTEL_BSP_SCHEDULE_DELAY: '50' }

test('one trace has every step of a message on both sides, as docs/monitoring.md shows them, and none of its content', async (t) => {
  const before = { ...process.env }
  let tracing: Tracing | undefined
  // The receiver is closed after this.
  t.after(async () => {
    process.env = before
    assert.equal(await tracing?.stop(1_000), true)
  })
  const receiver = await startReceiver(t)
  Object.assign(process.env, json, { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url })
  tracing = startTracing('platform')
  let refusals = 1
  const service = witnessService('fcm_token', () =>
    refusals-- > 0 ? { ...away, blame: 'message', answer: 'try later' } : accepted,
  )
  const devices = deviceBook(
    ['1001', '1002', '1003'].map((userId) => device({ kind: 'fcm_token', token: `t-${userId}`, userId })),
  )
  const operator = await startOperator(t, { push: { devices: { source: devices, services: [service] } } })
  const lane = (over: Partial<LaneOptions>): LaneOptions => ({
    brand: '1',
    channel: 'push',
    mode: 'single',
    provider: operatorApi({ url: operator.url, apiKey: keys.one.key }),
    spanMs: 50,
    retry: { firstMs: 20, mostMs: 50 },
    ...over,
  })
  const platform = await startPlatform(t, { lanes: [lane({}), lane({ channel: 'site', mode: 'batch' })] })
  const settled = () =>
    until(async () => (await get(`${platform.url}/admin/summary`)).body.waiting === 0, { awaited: 'all are settled' })
  const named = (name: string): Span[] => receiver.spans.filter((span) => span.name.startsWith(name))

  await t.test('a single message, also with a second attempt', async () => {
    await post(`${platform.url}/admin/activities/push`, element({ id: 7 }, { title: secret }), adminKey.key)
    await settled()
    await until(() => named('send 1/push').length === 2, { awaited: 'both attempts are exported' })
    await until(() => named('push ').length === 2, { awaited: 'both calls of the push service are exported' })
    const [enqueue] = named('enqueue 1/push')
    const trace = receiver.spans.filter(({ traceId }) => traceId === enqueue?.traceId)
    const lines = (parent: Span | undefined, indent = ''): string[] =>
      trace
        .filter(({ parentSpanId = '' }) => parentSpanId === (parent?.spanId ?? ''))
        .flatMap((span) => [`${indent}${span.name.replace(/127.*/, 'HOST')}`, ...lines(span, `${indent}  `)])
    const [shown] = pages.flatMap((page) => fencedSnippets(page, 'text'))
    const [enqueued, ...attempt] = (shown?.text ?? '')
      .trimEnd()
      .split('\n')
      .map((line) =>
        line
          .replace(/(\S) {2,}.*/, '$1')
          .replace('operator:8090', 'HOST')
          .replace('push fcm', `push ${service.name}`),
      )
    assert.deepEqual(lines(undefined), [enqueued, ...attempt, ...attempt])
    const [first, second] = named('deliver push')
    assert.equal(attribute(first, 'bellwire.outcome'), 'fatal')
    assert.equal(first?.status?.code, 2)
    assert.equal(attribute(second, 'bellwire.outcome'), 'successful')
    assert.equal(attribute(second, 'bellwire.activity_id'), '7')
    const identifiers = [second, named('send 1/push')[1]].map((span) => attribute(span, 'bellwire.identifier'))
    assert.ok(identifiers[0] !== undefined && identifiers[0] === identifiers[1])
  })

  await t.test('the call of a batch is linked with its messages, in both directions', async () => {
    const batch = [element({ id: 8, user_id: '1002' }), element({ id: 9, user_id: '1003' })]
    await post(`${platform.url}/admin/activities/site`, batch, adminKey.key)
    await settled()
    await until(() => named('send 1/site').length === 2 && named('deliver site').length === 2, {
      awaited: 'the spans are exported',
    })
    const call = receiver.spans.find(
      ({ name, links = [] }) => name.startsWith('call operator-api') && links.length === 2,
    )
    await until(() => call !== undefined, { awaited: 'the call is exported' })
    const enqueued = named('enqueue 1/site')
    assert.deepEqual(
      call?.links?.map(({ spanId }) => spanId).toSorted(),
      enqueued.map(({ spanId }) => spanId).toSorted(),
    )
    for (const span of named('send 1/site')) {
      assert.ok(enqueued.some(({ traceId }) => traceId === span.traceId))
      assert.deepEqual(
        span.links?.map(({ spanId }) => spanId),
        [call?.spanId],
      )
    }
    for (const span of named('deliver site')) assert.equal(span.traceId, call?.traceId)
  })

  await t.test('the trace of the caller goes on, and an unreadable one is ignored', async () => {
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
    for (const [traceparent, id] of [
      [`00-${traceId}-00f067aa0ba902b7-01`, 10],
      ['nonsense', 11],
    ] as const) {
      const response = await fetch(`${platform.url}/admin/activities/push`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': adminKey.key, traceparent },
        body: JSON.stringify(element({ id })),
      })
      assert.equal(response.status, 200)
    }
    await settled()
    await until(() => named('deliver push').length === 4, { awaited: 'the spans are exported' })
    const traces = named('deliver push').map((span) => [attribute(span, 'bellwire.activity_id'), span.traceId])
    assert.equal(traces.find(([id]) => id === '10')?.[1], traceId)
    assert.notEqual(traces.find(([id]) => id === '11')?.[1], traceId)
  })

  assert.deepEqual([...receiver.paths], ['/v1/traces'])
  const all = JSON.stringify(receiver.spans)
  for (const personal of [secret, 't-1001', '"1001"']) assert.ok(!all.includes(personal), personal)
})

test('the command line exports spans if a variable asks for them, and the last ones when it stops', async (t) => {
  const receiver = await startReceiver(t)
  const folder = await temporary(t)
  for (const file of ['bellwire.yaml', 'users.csv'])
    await copyFile(join(import.meta.dirname, '../../examples', file), join(folder, file))
  const operator = start(t, ['operator', '-c', join(folder, 'bellwire.yaml')], {
    ...freePorts,
    ...json,
    OTEL_BSP_SCHEDULE_DELAY: '60000',
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
  })
  const { url } = await addressesOf(operator)
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
  await send(url, { traceparent })
  assert.equal(receiver.spans.length, 0)
  operator.child.kill('SIGTERM')
  assert.equal((await operator.ended).code, 0)
  const request = receiver.spans.find(({ name }) => name === 'POST /channels/push/single')
  assert.deepEqual([request?.service, request?.traceId], ['bellwire-operator', '4bf92f3577b34da6a3ce929d0e0e4736'])
})

test('a receiver that is away disturbs neither the messages nor the stop', async (t) => {
  const folder = await temporary(t)
  for (const file of ['bellwire.yaml', 'users.csv'])
    await copyFile(join(import.meta.dirname, '../../examples', file), join(folder, file))
  const operator = start(t, ['operator', '-c', join(folder, 'bellwire.yaml')], {
    ...freePorts,
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await freePort()}`,
  })
  const { url } = await addressesOf(operator)
  for (let n = 0; n < 20; n++) await send(url, {})
  operator.child.kill('SIGTERM')
  const { code, out, err } = await operator.ended
  assert.equal(code, 0, err)
  assert.match(err, /the last traces were not exported/)
  assert.equal(out.match(/"message.settled"/g)?.length, 20)
})

test('without a variable no SDK is loaded', () => {
  for (const env of [
    {},
    { OTEL_TRACES_EXPORTER: 'none' },
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_SDK_DISABLED: 'true' },
  ])
    assert.equal(startTracing('operator', env), undefined)
})

async function send(url: string, headers: Readonly<Record<string, string>>): Promise<void> {
  const response = await fetch(`${url}/channels/push/single`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': 'example-operator-key-1', ...headers },
    body: JSON.stringify(element({}, { title: secret })),
  })
  await response.text()
}
