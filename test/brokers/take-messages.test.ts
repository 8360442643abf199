// No message can stop the consumption of those behind it.

import assert from 'node:assert/strict'
import test from 'node:test'
import { gzipSync } from 'node:zlib'
import { mostMessageBytes, type Received, readTraceparent, truncate } from '../../src/base/brokers/consumer.ts'
import type { Parked } from '../../src/base/brokers/parked.ts'
import { messageOf } from '../../src/base/brokers/reasons.ts'
import { takeMessages } from '../../src/base/brokers/take-messages.ts'

const message = (body: string, more: Partial<Received> = {}): Received => ({
  type: 'push',
  body: Buffer.from(body),
  from: 'test',
  ...more,
})

function takeInto(read: (message: Received) => string) {
  const stored: string[] = []
  const parked: Parked[] = []
  const take = takeMessages({
    read: (each) => ({ value: read(each), brand: '1' }),
    commit: async (values) => void stored.push(...values),
    park: () => [],
    onParked: (each) => void parked.push(...each),
  })
  return { take, stored, parked }
}

const textOf = ({ body }: Received): string => Buffer.from(body).toString()

test('a message whose reader throws is parked, and the others are stored', async () => {
  const { take, stored, parked } = takeInto((each) => {
    if (textOf(each) === 'bad') throw new TypeError('a fault of ours')
    return textOf(each)
  })
  assert.deepEqual(await take([message('one'), message('bad'), message('two')]), ['taken', 'parked', 'taken'])
  assert.deepEqual(stored, ['one', 'two'])
  assert.deepEqual(
    parked.map(({ reason }) => reason),
    ['reading the message failed: a fault of ours'],
  )
})

test('a message that cannot be read because of its coding is parked with the name of the coding', async () => {
  const { take, parked } = takeInto((each) => JSON.parse(textOf(each)))
  const gzip = gzipSync('{"a":1}')
  await take([message('', { body: gzip, encoding: 'gzip' }), message('"read"', { encoding: 'gzip' })])
  assert.equal(parked.length, 1)
  assert.match(parked[0]?.reason ?? '', /; its content_encoding is gzip: send it without a coding$/)
})

test('the reason of a closed channel has no name of an unknown method', () => {
  assert.equal(messageOf(new Error('undefined: PRECONDITION_FAILED - timeout')), 'PRECONDITION_FAILED - timeout')
})

test('a message that was delivered too often is parked and not read', async () => {
  const { take, stored, parked } = takeInto(() => assert.fail('read'))
  assert.deepEqual(await take([message('poison', { failedDeliveries: 21 })]), ['parked'])
  assert.deepEqual(stored, [])
  assert.match(parked[0]?.reason ?? '', /delivered 21 times and not acknowledged/)
})

test('only the beginning of a message that is too large stays in memory', async () => {
  const { take, parked } = takeInto(() => assert.fail('read'))
  const large = message('x'.repeat(mostMessageBytes + 1))
  assert.deepEqual(await take([large]), ['parked'])
  assert.equal(parked[0]?.message.body.byteLength, 64 * 1024)
  assert.ok(truncate(large).body.buffer.byteLength < mostMessageBytes, 'the whole message is not retained')
  const largest = message('x'.repeat(mostMessageBytes))
  assert.equal(truncate(largest), largest)
})

test('a trace header is read only if it is well-formed', () => {
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
  assert.deepEqual(readTraceparent(traceparent), { traceparent })
  assert.deepEqual(readTraceparent(Buffer.from(traceparent)), { traceparent })
  for (const bad of [
    undefined,
    7,
    '',
    `${traceparent} `,
    `${traceparent}\n`,
    traceparent.toUpperCase(),
    Buffer.alloc(200),
  ])
    assert.deepEqual(readTraceparent(bad), {})
})
