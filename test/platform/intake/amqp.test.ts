import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import test, { type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { type ConfirmChannel, connect } from 'amqplib'
import { amqpConsumer } from '../../../src/base/brokers/amqp-consumer.ts'
import type { BrokerConsumer } from '../../../src/base/brokers/consumer.ts'
import { intakeSuite } from '../../suites/intake.ts'
import { rabbitmq, withoutRabbitmq } from '../../support/services/rabbitmq.ts'
import { element, get, startPlatform, witness } from '../../support/sides.ts'
import { until } from '../../support/wait.ts'

const prefetch = 100

/** Opens another client's channel. The queue is deleted when the test ends. */
async function openChannel(t: TestContext, url: string, queue: string): Promise<ConfirmChannel> {
  const connection = await connect(url)
  const channel = await connection.createConfirmChannel()
  t.after(async () => {
    await channel.deleteQueue(queue)
    await channel.deleteQueue(`${queue}.dead`)
    await connection.close()
  })
  return channel
}

async function declareQueues(consumer: BrokerConsumer): Promise<void> {
  const stop = new AbortController()
  const consuming = consumer.consume(async (received) => received.map(() => 'taken' as const), stop.signal)
  await until(() => consumer.status?.().state === 'consuming', { withinMs: 30_000, awaited: 'the queues are declared' })
  stop.abort()
  await consuming
}

intakeSuite({
  name: 'amqp',
  skip: await withoutRabbitmq(),
  mostHeld: prefetch,
  async open(t) {
    const url = await rabbitmq()
    const queue = `activities-test-${randomUUID()}`
    const channel = await openChannel(t, url, queue)
    return {
      consumer: () => amqpConsumer({ url, queue, prefetch }),
      async send(messages) {
        for (const { body, type, headers } of messages)
          channel.sendToQueue(queue, body, {
            contentType: 'application/json',
            persistent: true,
            ...(type !== undefined && { type }),
            ...(headers && { headers }),
          })
        await channel.waitForConfirms()
      },
    }
  },
})

test('a record with a coding is parked with the name of its coding, and the record behind it is delivered', {
  skip: await withoutRabbitmq(),
}, async (t) => {
  const url = await rabbitmq()
  const queue = `activities-test-${randomUUID()}`
  const channel = await openChannel(t, url, queue)
  await declareQueues(amqpConsumer({ url, queue }))
  const record = Buffer.from(JSON.stringify(element()))
  channel.sendToQueue(queue, gzipSync(record), { persistent: true, type: 'push', contentEncoding: 'gzip' })
  channel.sendToQueue(queue, record, { persistent: true, type: 'push' })
  await channel.waitForConfirms()
  const provider = witness()
  const { url: platform } = await startPlatform(t, {
    lanes: [{ brand: '1', channel: 'push', mode: 'single', provider }],
    intake: [{ consumer: amqpConsumer({ url, queue }), brands: ['1'] }],
  })
  const parked = async () => (await get(`${platform}/admin/failed?lane=1/intake`)).body.items
  await until(async () => provider.received.length === 1 && (await parked()).length === 1, {
    withinMs: 30_000,
    awaited: 'one is delivered and one is parked',
  })
  assert.match((await parked())[0].error, /; its content_encoding is gzip: send it without a coding$/)
})

test('a record that ends every process that receives it is parked in the end, unread', {
  skip: await withoutRabbitmq(),
  timeout: 90_000,
}, async (t) => {
  const url = await rabbitmq()
  const queue = `activities-test-${randomUUID()}`
  const channel = await openChannel(t, url, queue)
  const deliveryLimit = 1
  await declareQueues(amqpConsumer({ url, queue, deliveryLimit }))
  channel.sendToQueue(queue, Buffer.from(JSON.stringify(element())), { persistent: true, type: 'push' })
  await channel.waitForConfirms()
  // Two deliveries from the queue, then two from the dead-letter queue: the next one exceeds the limit there, too.
  const victim = fileURLToPath(new URL('../../devices/channels/unacknowledging-consumer.ts', import.meta.url))
  for (let delivery = 0; delivery < 4; delivery++) {
    const child = fork(victim, [url, queue, '10', String(deliveryLimit)])
    await once(child, 'message')
    child.kill('SIGKILL')
    await once(child, 'close')
  }
  const { url: platform } = await startPlatform(t, {
    lanes: [{ brand: '1', channel: 'push', mode: 'batch', provider: witness() }],
    intake: [{ consumer: amqpConsumer({ url, queue, deliveryLimit }), brands: ['1'] }],
  })
  const [parked] = await until(
    async () => {
      const { items } = (await get(`${platform}/admin/failed?lane=1/intake`)).body
      return items.length === 1 && items
    },
    { withinMs: 30_000, awaited: 'the message is parked' },
  )
  assert.match(parked.error, /^the message was delivered \d times and not acknowledged/)
})
