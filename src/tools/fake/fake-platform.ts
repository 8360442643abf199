// A fake platform: the real platform in memory. Its requests pass through a server that deviates on request, and so do the
// device links that it receives. All of it is recorded.

import { createReadStream } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { amqpConsumer } from '../../base/brokers/amqp-consumer.ts'
import type { BrokerConsumer } from '../../base/brokers/consumer.ts'
import { kafkaConsumer } from '../../base/brokers/kafka-consumer.ts'
import { listen } from '../../base/http/http.ts'
import { chain } from '../../base/http/mount.ts'
import { openDispatcher } from '../../base/http-client/dispatcher.ts'
import { createFaultScript } from '../../base/runtime/fault-script.ts'
import { readBody } from '../../base/runtime/read-body.ts'
import { type Channel, channels } from '../../contract/endpoints.ts'
import { createPlatform } from '../../sides/platform/create-platform.ts'
import { operatorApi } from '../../subjects/providers/operator-api.ts'
import { createHttpClient } from '../checker/http-client.ts'
import { controlPath, serveControl } from './control.ts'
import { forward, reply } from './forward.ts'
import { type OpenServer, openServer } from './open-server.ts'
import { enqueue, enqueueLines, readList } from './platform-actions.ts'
import { deviceEndpointOf, type PlatformBehaviour, readPlatformBehaviour } from './platform-behaviour.ts'
import type { PlatformRequest } from './platform-request.ts'
import { receiveLink, recordingConsumer } from './receive-links.ts'
import { createRecorder } from './recorder.ts'
import { openSendRequests } from './send-requests.ts'

export interface FakePlatformOptions {
  readonly host: string
  /** 0: a free port. */
  readonly port: number
  /** The operator: {base_url} of §4.1, and the API key that it issued. */
  readonly operator: { readonly url: string; readonly key: string }
  /** The key for device links and for /admin. */
  readonly key: string
  readonly brand: string
  readonly mode: 'single' | 'batch'
  /** The most messages in a batch, and the time after which an incomplete batch is sent. */
  readonly batchMax: number
  readonly spanMs: number
  readonly timeoutMs: number
  /** Queues and topics with device links. */
  readonly amqp?: { readonly url: string; readonly queue: string }
  readonly kafka?: { readonly brokers: readonly string[]; readonly topic: string }
  readonly onRequest?: (request: PlatformRequest) => void
}

/** Its URL is {platform_url} of §4.2. */
interface FakePlatform extends OpenServer {
  /** Enqueues a file with one activity request record in each line. */
  sendFile(channel: Channel, file: string): Promise<object>
}

/** A developer waits for a repetition. */
const retry = { firstMs: 1_000, mostMs: 10_000 }

/**
 * @example
 * const fake = await startFakePlatform({ ...options, operator: { url: 'http://127.0.0.1:7001', key: 'operator-key' } })
 * // POST /fake/push {"user": "1001", "title": "Hello"}
 */
export async function startFakePlatform(options: FakePlatformOptions): Promise<FakePlatform> {
  const { operator, key, brand, mode, batchMax: max, spanMs, timeoutMs, onRequest } = options
  const behaviours = createFaultScript<PlatformBehaviour>()
  const recorder = createRecorder<PlatformRequest>(onRequest)
  // A request that the platform gives up on is closed here too, shortly afterwards.
  const client = createHttpClient({ ...operator, timeoutMs: timeoutMs + 1_000 })
  const sending = await openSendRequests({ client, behaviours, recorder })
  // Under the address of the operator, so that errors and `bellwire explain` name it.
  const connect = () => openDispatcher(sending.url)
  const provider = operatorApi({ url: new URL(operator.url).origin, apiKey: sending.key, connect })
  const platform = createPlatform({
    store: 'sqlite::memory:',
    keys: [
      {
        name: 'operator',
        key,
        scopes: ['devices', 'enqueue', 'counts', 'read', 'decide', 'attributes'],
        brands: [brand],
      },
    ],
    lanes: channels.map((channel) => ({ brand, channel, mode, max, spanMs, timeoutMs, retry, provider })),
    deviceLinks: consumersOf(options).map((consumer) => ({
      consumer: recordingConsumer(consumer, brand, recorder),
      brands: brand,
    })),
  })
  await platform.start()
  const inner = await listen('platform', chain(platform.handler, platform.admin.handler))
  const real = inner.url
  const actions = { real, key, brand, operator: { url: sending.url, key: sending.key } }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', 'http://fake')
    if (pathname.startsWith(controlPath))
      return serveControl(request, response, {
        behaviours,
        readBehaviour: readPlatformBehaviour,
        listName: 'requests',
        requests: recorder.requests,
        actions: {
          '/push': (body, text) => enqueue(actions, 'push', body, text),
          '/site': (body, text) => enqueue(actions, 'site', body, text),
          '/reconciliation': (body) => readList(actions, body),
        },
      })
    const endpoint = request.method === 'POST' ? deviceEndpointOf(pathname) : undefined
    if (endpoint) return receiveLink({ real, behaviours, recorder }, endpoint, request, response)
    const body = await readBody(request)
    if (body === undefined) return reply(response, 413, '{"error":"the body is larger than 64 MiB"}')
    await forward(real, request, body, response)
  }

  const server = await openServer(serve, options, async () => {
    await platform.stop(0)
    await inner.close(0)
    client.close()
    await sending.close()
  })
  return { ...server, sendFile: (channel, file) => enqueueLines(actions, channel, createReadStream(file)) }
}

function consumersOf({ amqp, kafka }: FakePlatformOptions): readonly BrokerConsumer[] {
  return [...(amqp ? [amqpConsumer(amqp)] : []), ...(kafka ? [kafkaConsumer(kafka)] : [])]
}
