// The fake platform with each behaviour, against a real operator, as an operator's engineer uses it.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { type ChannelModel, connect } from 'amqplib'
import { Kafka, logLevel } from 'kafkajs'
import { type FakePlatformOptions, startFakePlatform } from '../../src/tools/fake/fake-platform.ts'
import type { PlatformRequest } from '../../src/tools/fake/platform-request.ts'
import { freePort } from '../support/free-port.ts'
import { kafka, withoutKafka } from '../support/services/kafka.ts'
import { rabbitmq, withoutRabbitmq } from '../support/services/rabbitmq.ts'
import { element, keys, post, startOperator, temporary, witness } from '../support/sides.ts'
import { until } from '../support/wait.ts'

const linkKey = 'example-platform-key-1'

async function start(t: TestContext, options: Partial<FakePlatformOptions> = {}) {
  const provider = witness()
  const operator = await startOperator(t, { push: provider })
  const fake = await startFakePlatform({
    host: '127.0.0.1',
    port: 0,
    operator: { url: operator.url, key: keys.one.key },
    key: linkKey,
    brand: '1',
    mode: 'batch',
    batchMax: 500,
    spanMs: 50,
    timeoutMs: 10_000,
    ...options,
  })
  t.after(() => fake.close())
  const control = async (path: string, body: unknown): Promise<{ status: number; body: Record<string, unknown> }> => {
    const answer = await post(`${fake.url}/fake/${path}`, body, undefined)
    return { status: answer.status, body: answer.body }
  }
  const requests = async (after = 0): Promise<readonly PlatformRequest[]> => {
    const response = await fetch(`${fake.url}/fake/requests?after=${after}`)
    return ((await response.json()) as { requests: readonly PlatformRequest[] }).requests
  }
  return {
    fake,
    provider,
    control,
    requests,
    behave: async (behaviour: object) => assert.equal((await control('behaviours', behaviour)).status, 200),
    sent: (count: number) =>
      until(async () => (await requests()).length >= count, { awaited: `${count} requests` }).then(() => requests()),
  }
}

test('errors name the address of the operator, and no internal one', async (t) => {
  const operator = `127.0.0.1:${await freePort()}`
  const { fake, control } = await start(t, { operator: { url: `http://${operator}/api`, key: keys.one.key } })
  await control('push', [{ user: '1001', title: 'Hello' }])
  const lanes = await until(
    async () => {
      const answer = await fetch(`${fake.url}/admin/lanes`, { headers: { 'x-api-key': linkKey } })
      const text = await answer.text()
      return text.includes('operator-api') ? text : undefined
    },
    { awaited: 'an error of the lane' },
  )
  assert.deepEqual(new Set(lanes.match(/operator-api [^ :]+:\d+/g)), new Set([`operator-api ${operator}`]))
})

test('short messages become complete records, are sent in one batch, and each shows its outcome and identifier', async (t) => {
  const { control, sent, provider } = await start(t)
  const { status, body } = await control('push', [
    { user: '1001', title: 'Hello', count: 2 },
    { user: '1002', title: 'You' },
  ])
  assert.equal(status, 200)
  assert.equal(body.accepted, 3)
  const [request] = await sent(1)
  assert.equal(request?.endpoint, 'push/batch')
  assert.equal(request?.status, 200)
  assert.deepEqual(
    request?.messages.map(({ user, outcome }) => [user, outcome]),
    [
      ['1001', 'successful'],
      ['1001', 'successful'],
      ['1002', 'successful'],
    ],
  )
  assert.deepEqual(
    request?.messages.map(({ identifier }) => identifier),
    provider.received.map(({ ref }) => ref),
  )
})

test('complete records stay as they are, also ids above 2^53', async (t) => {
  const { control, sent, provider } = await start(t, { mode: 'single' })
  const id = '9007199254740993'
  const { activity, ...content } = element({}, { title: 'Large' })
  const record = JSON.stringify({ activity, ...content }).replace(/"id":\d+/, `"id":${id}`)
  await control('push', record)
  const [request] = await sent(1)
  assert.equal(request?.endpoint, 'push/single')
  assert.equal(request?.messages[0]?.id, id)
  assert.equal(provider.received[0]?.text, record)
})

test('a file is sent, one record in each line', async (t) => {
  const { fake, sent } = await start(t)
  const file = join(await temporary(t), 'records.ndjson')
  await writeFile(file, `${[1, 2].map(() => JSON.stringify(element())).join('\n')}\n`)
  assert.equal(((await fake.sendFile('push', file)) as { accepted: number }).accepted, 2)
  const [request] = await sent(1)
  assert.equal(request?.messages.length, 2)
})

test('a request that is cut before its answer is repeated, and has the same identifier', async (t) => {
  const { control, behave, sent, provider } = await start(t)
  await behave({ cut: 'after', times: 1 })
  await control('push', { user: '1001', title: 'Hello' })
  const [cut, repeated] = await sent(2)
  assert.match(cut?.lost ?? '', /cut the connection/)
  assert.deepEqual(cut?.behaviour, { cut: 'after', times: 1 })
  assert.equal(provider.received.length, 1)
  assert.equal(repeated?.messages[0]?.identifier, provider.received[0]?.ref)
})

test('a request that is cut within its body delivers nothing, and is repeated', async (t) => {
  const { control, behave, sent, provider } = await start(t)
  await behave({ cut: 'before', times: 1 })
  await control('push', { user: '1001', title: 'Hello' })
  const [cut, repeated] = await sent(2)
  assert.equal(cut?.status, undefined)
  assert.equal(repeated?.status, 200)
  assert.equal(provider.received.length, 1)
})

for (const repeat of ['after', 'at_once'] as const)
  test(`a request is sent twice (${repeat}), and the operator delivers it once`, async (t) => {
    const { control, behave, sent, provider } = await start(t)
    await behave({ repeat, times: 1 })
    await control('push', { user: '1001', title: 'Hello' })
    const [first, second] = await sent(2)
    assert.equal(first?.messages[0]?.identifier, second?.messages[0]?.identifier)
    assert.equal(provider.received.length, 1)
  })

test('a request with another key is refused, and repeated with the right one', async (t) => {
  const { control, behave, sent } = await start(t)
  await behave({ key: 'other', times: 1 })
  await control('push', { user: '1001', title: 'Hello' })
  const [refused, repeated] = await sent(2)
  assert.equal(refused?.status, 401)
  assert.equal(refused?.messages[0]?.outcome, 'fatal')
  assert.match(refused?.messages[0]?.error ?? '', /unknown API key/)
  assert.equal(repeated?.status, 200)
})

test('a list is requested, and refused as a platform refuses it', async (t) => {
  const { control, behave } = await start(t)
  const { body } = await control('reconciliation', { field: 'blocked' })
  assert.equal(body.accepted, false)
  assert.match(String(body.error), /501|no source/)
  await behave({ endpoint: 'reconciliation', cut: 'after', times: 1 })
  assert.equal((await control('reconciliation', { field: 'blocked' })).body.accepted, false)
  assert.equal((await control('reconciliation', { field: 'nobody' })).status, 400)
})

const record = (over: object = {}) => ({
  user_id: '1001',
  tokens: [{ token: 'atoken', channel: 'ios', provider: 'apns' }],
  timestamp: '2026-01-01T10:00:00Z',
  origin: 'www',
  ...over,
})
const linkPath = '/v1/integration/user/device/link'

test('a device link is stored and shown; with behaviours it is answered 503, or its answer is lost', async (t) => {
  const { fake, behave, sent } = await start(t)
  const link = (body: object = record()) =>
    fetch(fake.url + linkPath, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': linkKey },
      body: JSON.stringify(body),
    })
  assert.equal((await link()).status, 200)
  assert.equal((await link(record({ timestamp: 'yesterday' }))).status, 400)
  await behave({ endpoint: 'device/link', answer: { status: 503, headers: { 'retry-after': '1' } }, times: 1 })
  assert.equal((await link()).headers.get('retry-after'), '1')
  await behave({ cut: 'after', times: 1 })
  await assert.rejects(link())
  const seen = await sent(4)
  assert.deepEqual(
    seen.map(({ endpoint, status, messages }) => [endpoint, status, messages[0]?.outcome]),
    [
      ['device/link', 200, 'stored'],
      ['device/link', 400, undefined],
      ['device/link', 503, undefined],
      ['device/link', undefined, 'stored'],
    ],
  )
  const response = await fetch(`${fake.url}/admin/devices?brand=1&user_id=1001`, { headers: { 'x-api-key': linkKey } })
  assert.equal(((await response.json()) as { devices: object[] }).devices.length, 1)
})

/** A look for a queue that does not exist closes its channel. */
async function hasQueue(connection: ChannelModel, queue: string): Promise<boolean> {
  const channel = await connection.createChannel()
  channel.on('error', () => {})
  return channel.checkQueue(queue).then(
    () => channel.close().then(() => true),
    () => false,
  )
}

test('device links of a queue are shown, and an unreadable one with its reason', {
  skip: await withoutRabbitmq(),
}, async (t) => {
  const url = await rabbitmq()
  const queue = `fake-platform-${randomUUID()}`
  const { requests } = await start(t, { amqp: { url, queue } })
  const connection = await connect(url)
  const channel = await connection.createConfirmChannel()
  t.after(async () => {
    await channel.deleteQueue(queue)
    await channel.deleteQueue(`${queue}.dead`)
    await connection.close()
  })
  await until(() => hasQueue(connection, queue), { awaited: 'the queue', withinMs: 30_000 })
  channel.sendToQueue(queue, Buffer.from(JSON.stringify(record())), { type: 'USER_DEVICE_LINK' })
  channel.sendToQueue(queue, Buffer.from(JSON.stringify(record())), { type: 'LINK' })
  await channel.waitForConfirms()
  await until(async () => (await requests()).length === 2, { awaited: 'both messages', withinMs: 30_000 })
  const seen = await requests()
  assert.deepEqual(
    seen.map(({ endpoint, messages }) => [endpoint, messages[0]?.user, messages[0]?.outcome]),
    [
      [`amqp ${queue}`, '1001', 'stored'],
      [`amqp ${queue}`, '1001', 'refused'],
    ],
  )
  assert.match(seen[1]?.messages[0]?.error ?? '', /"LINK" is not known/)
})

test('device links of a topic are shown', { skip: await withoutKafka() }, async (t) => {
  const broker = await kafka()
  const topic = `fake-platform-${randomUUID()}`
  const { requests } = await start(t, { kafka: { brokers: [broker], topic } })
  const client = new Kafka({ clientId: 'foreign', brokers: [broker], logLevel: logLevel.NOTHING })
  const admin = client.admin()
  await admin.connect()
  const producer = client.producer({ allowAutoTopicCreation: false })
  await producer.connect()
  t.after(async () => {
    await producer.disconnect()
    await admin.deleteTopics({ topics: [topic] })
    await admin.disconnect()
  })
  await until(async () => (await admin.listTopics()).includes(topic), { awaited: 'the topic', withinMs: 30_000 })
  await producer.send({
    topic,
    messages: [{ key: '1001', value: JSON.stringify(record()), headers: { type: 'USER_DEVICE_UNLINK' } }],
  })
  await until(async () => (await requests()).length === 1, { awaited: 'the message', withinMs: 30_000 })
  assert.deepEqual((await requests())[0]?.messages, [{ user: '1001', outcome: 'stored' }])
})

for (const [path, body, error] of [
  [
    'behaviours',
    { endpoint: 'device/link', repeat: 'after' },
    /device\/link can have one of cut, delay_ms, hang, answer/,
  ],
  ['behaviours', { endpoint: 'push/batch', hang: true }, /push\/batch can have one of repeat, key, write_ms, cut/],
  ['behaviours', { every: 2 }, /name one of/],
  ['push', { title: 'Hello' }, /user must be/],
  ['push', { user: '1001', count: 0 }, /count must be/],
  ['push', [{ user: '1001' }, element()], /either records with activity, or short messages/],
] as const)
  test(`a wrong request is refused: POST /fake/${path} ${JSON.stringify(body).slice(0, 60)}`, async (t) => {
    const { control } = await start(t)
    const answer = await control(path, body)
    assert.equal(answer.status, 400)
    assert.match(String(answer.body.error), error)
  })

test('the body of a request is written slowly', async (t) => {
  const { control, behave, sent } = await start(t)
  await behave({ write_ms: 300, times: 1 })
  await control('push', { user: '1001', title: 'Hello' })
  const [request] = await sent(1)
  assert.equal(request?.status, 200)
  assert.ok((request?.ms ?? 0) >= 200, `${request?.ms} ms`)
})
