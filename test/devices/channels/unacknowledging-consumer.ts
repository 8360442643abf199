// A consumer that prefetches messages, reports them, never acknowledges one, and waits to be killed. argv: url, queue, prefetch,
// delivery limit.

import { amqpConsumer } from '../../../src/base/brokers/amqp-consumer.ts'

const [url = '', queue = '', prefetch = '', limit = ''] = process.argv.slice(2)
const consumer = amqpConsumer({ url, queue, prefetch: Number(prefetch), deliveryLimit: Number(limit) })
await consumer.consume((received) => {
  process.send?.({ received: received.length, from: received[0]?.from })
  return new Promise(() => {})
}, new AbortController().signal)
