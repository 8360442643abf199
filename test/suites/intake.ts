// The requirements for every broker from which records are enqueued, tested with real brokers. Run by test/platform/intake/*.test.ts.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { BrokerConsumer } from '../../src/base/brokers/consumer.ts'
import type { IntakeSource, LaneOptions, PlatformOptions } from '../../src/sides/platform/options.ts'
import { freshSchema, withoutPostgres } from '../support/services/postgres.ts'
import { type Answer, adminKey, element, get, post, startPlatform, type Witness, witness } from '../support/sides.ts'
import { tcpProxy } from '../support/tcp-proxy.ts'
import { event, until } from '../support/wait.ts'

/** A message as another client sends it. */
export interface OutsideMessage {
  readonly body: Buffer
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** The queue or topic of one test. */
export interface IntakeTransport {
  /** Creates another consumer of the queue or topic, in the same group. */
  consumer(): BrokerConsumer
  /** Sends messages with another client than Bellwire's. */
  send(messages: readonly OutsideMessage[]): Promise<void>
}

export interface IntakeFixture {
  readonly name: 'amqp' | 'kafka'
  readonly skip: string | false
  /** The most messages that a consumer may have received and not stored, when messages of 100 kB are sent. */
  readonly mostHeld: number
  open(t: TestContext): Promise<IntakeTransport>
}

const slow = { withinMs: 45_000 }
const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
const recordMessage = (record: object, more: Omit<OutsideMessage, 'body'> = { type: 'push' }): OutsideMessage => ({
  body: Buffer.from(JSON.stringify(record)),
  ...more,
})

interface Setup {
  readonly url: string
  readonly provider: Witness
  readonly stop: () => Promise<void>
  failed(lane?: string, key?: string): Promise<Answer['body'][]>
}

async function start(
  t: TestContext,
  intake: IntakeSource,
  {
    lanes = ['1/push', '2/push', '1/site'],
    ...options
  }: Partial<Omit<PlatformOptions, 'lanes'>> & { lanes?: readonly string[] } = {},
): Promise<Setup> {
  const provider = witness()
  const { url, stop } = await startPlatform(t, {
    ...options,
    keys: [
      adminKey,
      { name: 'one', key: 'admin-key-of-brand-1', scopes: ['counts', 'read', 'decide', 'attributes'], brands: ['1'] },
    ],
    lanes: lanes.map((name) => {
      const [brand, channel] = name.split('/') as [string, LaneOptions['channel']]
      return { brand, channel, mode: 'batch', provider, spanMs: 5 }
    }),
    intake: [intake],
  })
  await until(() => intake.consumer.status?.().state === 'consuming', {
    ...slow,
    awaited: 'the queue or topic is consumed',
  })
  return {
    url,
    provider,
    stop,
    failed: async (lane, key) =>
      (await get(`${url}/admin/failed?state=pending&limit=1000${lane === undefined ? '' : `&lane=${lane}`}`, key)).body
        .items,
  }
}

const namesOf = ({ received }: Witness): string[] =>
  received.map(({ brand, channel, id }) => `${brand}/${channel}/${id}`)

export function intakeSuite({ name, skip, mostHeld, open }: IntakeFixture): void {
  const check = (title: string, run: (t: TestContext) => Promise<void>, without = skip): void => {
    test(`${name}: ${title}`, { skip: without, timeout: 120_000 }, run)
  }

  check('each record reaches its lane once, although every message is sent twice', async (t) => {
    const transport = await open(t)
    const { provider, failed } = await start(t, { consumer: transport.consumer() })
    const records = Array.from({ length: 300 }, (_, i) =>
      element({ id: i, brand_id: 1 + (i % 2), user_id: `u${i % 7}` }),
    )
    const all = records.map((record) => recordMessage(record))
    await transport.send([...all, ...all, recordMessage(element({ id: 'last' }), { type: 'Site' })])
    await until(() => namesOf(provider).length === 301, { ...slow, awaited: 'all records are delivered' })
    assert.deepEqual(
      namesOf(provider).sort(),
      [...records.map((_, i) => `${1 + (i % 2)}/push/${i}`), '1/site/last'].sort(),
    )
    assert.deepEqual(await failed(), [])
  })

  check('a trace header goes with its record, and a malformed one is ignored', async (t) => {
    const transport = await open(t)
    const { provider } = await start(t, { consumer: transport.consumer(), channel: 'push' })
    await transport.send([
      recordMessage(element({ id: 1 }), { headers: { traceparent } }),
      recordMessage(element({ id: 2 }), { headers: { traceparent: `${traceparent}\r\nx: y` } }),
      recordMessage(element({ id: 3 }), { type: 'anything' }),
    ])
    await until(() => provider.received.length === 3, { ...slow, awaited: 'the records are delivered' })
    const traces = new Map(provider.received.map(({ id, context }) => [id, context.traceparent]))
    assert.deepEqual(
      traces,
      new Map([
        ['1', traceparent],
        ['2', undefined],
        ['3', undefined],
      ]),
    )
  })

  check('an unreadable message is parked with the reason that enqueueing gives, and delays no other', async (t) => {
    const transport = await open(t)
    const { url, provider, failed } = await start(t, { consumer: transport.consumer(), brands: ['1', '2'] })
    await transport.send([...badMessages.map(({ message }) => message), recordMessage(element({ id: 'last' }))])
    await until(() => namesOf(provider).includes('1/push/last'), { ...slow, awaited: 'the last record is delivered' })
    const parked = await until(
      async () => {
        const items = await failed()
        return items.length === badMessages.length && items
      },
      { ...slow, awaited: `${badMessages.length} messages are parked` },
    )
    for (const { title, error, lane = '-/intake' } of badMessages) {
      const found = parked.find((item) => error.test(item.error))
      assert.ok(found, `${title}: parked with its error\n${parked.map((item) => item.error).join('\n')}`)
      assert.partialDeepStrictEqual(found, { lane, reason: 'invalid', attempts: 0 }, title)
    }
    assert.deepEqual(namesOf(provider), ['1/push/last'])
    // The same record over HTTP has the same error.
    const { body } = await post(`${url}/admin/activities/push`, element({ brand_id: 1, user_id: 7 }), adminKey.key)
    assert.ok(parked.some((item) => item.error === body.error))
    assert.partialDeepStrictEqual(await failed('2/intake'), [{ user: 'without lane' }])
    assert.deepEqual(await failed('1/intake', 'admin-key-of-brand-1'), [], 'a key of another brand sees none of them')
  })

  check(
    'a parked record reaches its lane by a replay after the configuration was corrected',
    async (t) => {
      const transport = await open(t)
      const store = `${await freshSchema()}`
      const first = await start(t, { consumer: transport.consumer() }, { store, lanes: ['1/push'] })
      await transport.send([recordMessage(element({ id: 5 }), { type: 'site', headers: { traceparent } })])
      await until(async () => (await first.failed('1/intake')).length === 1, {
        ...slow,
        awaited: 'the record is parked',
      })
      await first.stop()
      const second = await start(t, { consumer: transport.consumer() }, { store, lanes: ['1/push', '1/site'] })
      const { body } = await post(`${second.url}/admin/failed/replay`, { lane: '1/intake' }, 'admin-key-of-brand-1')
      assert.equal(body.count, 1)
      await until(() => second.provider.received.length === 1, { ...slow, awaited: 'the record is delivered' })
      assert.partialDeepStrictEqual(second.provider.received, [{ channel: 'site', id: '5', context: { traceparent } }])
      assert.deepEqual(await second.failed(), [])
    },
    skip || postgresSkip,
  )

  check(
    'while the database is away nothing is acknowledged, and few messages are in memory; then all are stored',
    async (t) => {
      const transport = await open(t)
      const proxy = await tcpProxy(t, await freshSchema())
      const consumer = transport.consumer()
      let most = 0
      const counting: BrokerConsumer = {
        ...consumer,
        consume: (take, signal) =>
          consumer.consume((received) => {
            most = Math.max(most, received.length)
            return take(received)
          }, signal),
      }
      const { url, provider } = await start(t, { consumer: counting, channel: 'push' }, { store: proxy.url })
      const held = event('consumer.held', (report) => report.consumer === consumer.name, slow)
      proxy.cut()
      const text = 'x'.repeat(100_000)
      const count = 250
      const all = Array.from({ length: count }, (_, id) => recordMessage(element({ id }, { data: { text } }), {}))
      await transport.send(all)
      await held
      const status = async () => (await get(`${url}/admin/consumers`)).body.consumers[0]
      const {
        state,
        last_error: error,
        lag,
      } = await until(
        async () => {
          const now = await status()
          return now.lag >= count - mostHeld && now
        },
        { ...slow, awaited: 'the messages wait at the broker' },
      )
      assert.equal(state, 'held')
      assert.match(error, /not connected/)
      assert.ok(lag <= count)
      assert.match(
        await (await fetch(`${url}/metrics`)).text(),
        new RegExp(`bellwire_consumer_up{consumer="${consumer.name}"} 0`),
      )
      assert.ok(most <= mostHeld, `${most} messages in one batch`)
      assert.equal(provider.received.length, 0)
      proxy.restore()
      await until(() => provider.received.length >= count, { ...slow, awaited: 'all records are delivered' })
      assert.equal(new Set(namesOf(provider)).size, count)
      assert.equal(provider.received.length, count)
      const now = await until(
        async () => {
          const each = await status()
          return each.lag === 0 && each
        },
        { ...slow, awaited: 'everything is acknowledged' },
      )
      assert.equal(now.state, 'consuming')
      assert.deepEqual((await get(`${url}/readyz`, '')).body, { ok: true, consumers: { [consumer.name]: 'consuming' } })
    },
    skip || postgresSkip,
  )
}

const postgresSkip = await withoutPostgres()

interface BadMessage {
  readonly title: string
  readonly message: OutsideMessage
  readonly error: RegExp
  /** Where it is parked. Default: -/intake. */
  readonly lane?: string
}

const badMessages: readonly BadMessage[] = [
  { title: 'no type', message: recordMessage(element(), {}), error: /^the message has no type: set its type to push/ },
  {
    title: 'an unknown type',
    message: recordMessage(element(), { type: 'sms' }),
    error: /^the type "sms" is not known/,
  },
  { title: 'not JSON', message: { type: 'push', body: Buffer.from('{"activity":') }, error: /^not JSON/ },
  { title: 'empty', message: { type: 'push', body: Buffer.alloc(0) }, error: /empty/ },
  { title: 'not UTF-8', message: { type: 'push', body: Buffer.from([0x7b, 0xff, 0x7d]) }, error: /not UTF-8/ },
  { title: 'an array', message: recordMessage([element()]), error: /^the message is an array/ },
  { title: 'a number as user_id', message: recordMessage(element({ user_id: 7 })), error: /user_id must be a string/ },
  { title: 'U+0000', message: recordMessage(element({}, { title: 'a\0' })), error: /U\+0000/ },
  {
    title: 'too deep',
    message: { type: 'push', body: Buffer.from('['.repeat(200_000)) },
    error: /nested deeper|not JSON|array/,
  },
  {
    title: 'too large',
    message: recordMessage(element({}, { data: { text: 'x'.repeat(2_000_000) } })),
    error: /^the message has 2000\d{3} bytes, and the limit is 1048576/,
  },
  {
    title: 'a brand that the queue may not carry',
    message: recordMessage(element({ brand_id: 3 })),
    error: / may not enqueue for brand 3$/,
  },
  {
    title: 'a brand without a lane for the channel',
    message: recordMessage(element({ brand_id: 2, user_id: 'without lane' }), { type: 'site' }),
    error: /^no lane serves brand 2 on site/,
    lane: '2/intake',
  },
]
