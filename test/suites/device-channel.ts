// The requirements for every channel of device links (§4.2, §4.3), tested with real brokers. Run by test/devices/publishers/*.test.ts.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import test, { type TestContext } from 'node:test'
import { deviceMessageType } from '../../src/contract/endpoints.ts'
import type { DeviceMessage, DevicePublisher } from '../../src/subjects/devices/device-publisher.ts'
import type { LinkSource } from '../../src/subjects/devices/link-intake.ts'
import { oracle, sequences, type TestEvent } from '../devices/sequences.ts'
import { type Answer, adminKey, get, startPlatform } from '../support/sides.ts'
import { until } from '../support/wait.ts'

export type Brand = '1' | '2'
export const brands: readonly Brand[] = ['1', '2']
/** The platform has a separate key for each brand. */
export const integrationKey = (brand: Brand): string => `integration-key-${brand}`

/** A message as another client sends it. */
export interface ForeignMessage {
  readonly type?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** The transport of one test, with a publisher and a consumed channel for each brand. */
export interface Transport {
  /** The channels that the platform consumes. */
  readonly channels: readonly LinkSource[]
  publisher(platform: string, brand: Brand): DevicePublisher
  /** Sends a message with another client than Bellwire's. @returns 'refused' if the sender receives an error */
  sendForeign(platform: string, brand: Brand, message: ForeignMessage): Promise<'accepted' | 'refused'>
}

export interface ChannelFixture {
  readonly name: 'rest' | 'amqp' | 'kafka'
  readonly skip: string | false
  open(t: TestContext): Promise<Transport>
}

const context = () => ({ deadline: Date.now() + 20_000, signal: new AbortController().signal })
const slow = { withinMs: 45_000 }

export interface PlatformSetup {
  readonly transport: Transport
  readonly url: string
  devicesOf(brand: Brand, userId: string): Promise<Answer['body'][]>
  failed(): Promise<Answer['body'][]>
  /** Publishes until all messages are accepted: in order, or in order for each user if the channel is ordered by user. */
  publish(brand: Brand, messages: readonly DeviceMessage[]): Promise<void>
}

export async function startSetup(t: TestContext, transport: Transport): Promise<PlatformSetup> {
  const keys = [
    adminKey,
    ...brands.map((brand) => ({
      name: `operator of ${brand}`,
      key: integrationKey(brand),
      scopes: ['devices' as const],
      brands: [brand],
    })),
  ]
  const { url } = await startPlatform(t, { keys, lanes: [], deviceLinks: transport.channels })
  const publishers = new Map(brands.map((brand) => [brand, transport.publisher(url, brand)]))
  t.after(() => Promise.all([...publishers.values()].map((publisher) => publisher.close())))
  return {
    transport,
    url,
    devicesOf: async (brand, userId) =>
      (await get(`${url}/admin/devices?brand=${brand}&user_id=${userId}`)).body.devices,
    failed: async () => (await get(`${url}/admin/failed?state=pending&limit=1000`)).body.items,
    async publish(brand, messages) {
      const publisher = publishers.get(brand) as DevicePublisher
      const users = [...Map.groupBy(messages, ({ userId }) => userId).values()]
      const sequencesToSend = publisher.concurrency === 1 ? [messages] : users
      const worker = async (): Promise<void> => {
        for (let sequence = sequencesToSend.pop(); sequence; sequence = sequencesToSend.pop())
          for (let from = 0; from < sequence.length; from += publisher.max)
            await publishUntilAccepted(publisher, sequence.slice(from, from + publisher.max))
      }
      await Promise.all(Array.from({ length: publisher.concurrency }, worker))
    },
  }
}

async function publishUntilAccepted(publisher: DevicePublisher, messages: readonly DeviceMessage[]): Promise<void> {
  await until(
    async () => (await publisher.publish(messages, context())).every(({ category }) => category === 'successful'),
    {
      ...slow,
      awaited: 'the messages are accepted',
    },
  )
}

let number = 0
export function message(
  what: 'link' | 'unlink',
  over: {
    readonly user?: string
    readonly token?: string
    readonly at?: string
    readonly [more: string]: unknown
  } = {},
): DeviceMessage {
  const { user = '1001', token = 't1', at = '2026-01-01T10:00:00Z', ...more } = over
  const tokens = [{ token, channel: 'android', provider: 'firebase' }]
  const body = JSON.stringify({ user_id: user, tokens, timestamp: at, origin: 'www.example.com', ...more })
  return { id: `m${++number}`, what, userId: user, body }
}

const secondsAfter = (seconds: number): string =>
  `2026-01-01T10:00:${String(seconds).padStart(2, '0')}.123456${seconds % 2}Z`

/** The events of a sequence for a brand. For brand 2 their times are reversed, so that the brands expect different owners. */
function eventsOfBrand(brand: Brand, sequence: readonly TestEvent[]): readonly TestEvent[] {
  const last = Math.max(...sequence.map(({ time }) => time))
  return brand === '1' ? sequence : sequence.map((event) => ({ ...event, time: last + 1 - event.time }))
}

export function deviceChannelSuite({ name, skip, open }: ChannelFixture): void {
  const check = (title: string, run: (setup: PlatformSetup, t: TestContext) => Promise<void>): void => {
    test(`${name}: ${title}`, { skip, timeout: 120_000 }, async (t) => run(await startSetup(t, await open(t)), t))
  }

  check('any order of links, moves, unlinks and repetitions leads to the owner of row 20', async (setup) => {
    // A sample of all sequences of up to 4 events: every 151st, which varies the actions, users and times.
    const all = sequences().filter((_, i) => i % 151 === 7)
    const events = (brand: Brand): DeviceMessage[] =>
      all.flatMap((sequence, n) => {
        const messages = eventsOfBrand(brand, sequence).map(({ what, userId, time }) =>
          message(what, { user: `${userId}${n % 50}`, token: `token ${n}`, at: secondsAfter(time) }),
        )
        return n % 3 === 0 ? [...messages, ...messages] : messages
      })
    await Promise.all(brands.map((brand) => setup.publish(brand, events(brand))))
    const marker = message('link', { user: 'the last', token: 'the last' })
    for (const brand of brands) {
      const expected = new Map<string, number>()
      for (const [n, sequence] of all.entries()) {
        const owner = oracle(eventsOfBrand(brand, sequence))
        if (owner !== undefined) expected.set(`${owner}${n % 50}`, (expected.get(`${owner}${n % 50}`) ?? 0) + 1)
      }
      await setup.publish(brand, [marker])
      await until(async () => (await setup.devicesOf(brand, 'the last')).length === 1, {
        ...slow,
        awaited: 'the marker is linked',
      })
      const users = Array.from({ length: 50 }, (_, i) => [`a${i}`, `b${i}`]).flat()
      await until(
        async () => {
          const counts = await Promise.all(users.map((user) => setup.devicesOf(brand, user)))
          return counts.every((devices, i) => devices.length === (expected.get(users[i] as string) ?? 0))
        },
        { ...slow, awaited: `the devices of brand ${brand} have the owners of row 20` },
      )
    }
    assert.deepEqual(await setup.failed(), [])
  })

  check('equal user ids and tokens of two brands belong to two people', async (setup) => {
    await setup.publish('1', [message('link')])
    await setup.publish('2', [message('link'), message('unlink', { at: '2026-01-01T10:00:01Z' })])
    await setup.publish('2', [message('link', { user: 'marker', token: 'marker' })])
    await until(async () => (await setup.devicesOf('2', 'marker')).length === 1, {
      ...slow,
      awaited: 'the marker is linked',
    })
    await until(async () => (await setup.devicesOf('1', '1001')).length === 1, {
      ...slow,
      awaited: 'the device of brand 1 is linked',
    })
    await until(async () => (await setup.devicesOf('2', '1001')).length === 0, {
      ...slow,
      awaited: 'the device of brand 2 is unlinked',
    })
  })

  check(
    'a message of another producer is accepted, and its additional fields and headers are ignored',
    async (setup) => {
      const { transport, url } = setup
      const body = Buffer.from(message('link', { user: 'foreign', more: { of: 'another' } }).body)
      const { link } = deviceMessageType
      assert.equal(
        await transport.sendForeign(url, '1', { type: link, body, headers: { type: 'NOT_THIS', other: '1' } }),
        'accepted',
      )
      await until(async () => (await setup.devicesOf('1', 'foreign')).length === 1, {
        ...slow,
        awaited: 'the device is linked',
      })
      assert.deepEqual(await setup.failed(), [])
    },
  )

  check('every channel treats invalid messages the same, and they delay no other message', async (setup) => {
    const { transport, url } = setup
    let n = 0
    for (const row of badInput) {
      if (row.only && row.only !== name) continue
      const user = `user ${++n}`
      const body = row.body ? row.body(user) : Buffer.from(message('link', { user, token: user }).body)
      const type = 'type' in row ? row.type : deviceMessageType.link
      const answer = await transport.sendForeign(url, '1', { type, body, ...(row.headers && { headers: row.headers }) })
      if (name === 'rest') assert.equal(answer, row.accepted ? 'accepted' : 'refused', row.title)
    }
    await transport.sendForeign(url, '1', {
      type: deviceMessageType.link,
      body: Buffer.from(message('link', { user: 'the last', token: 'the last' }).body),
    })
    await until(async () => (await setup.devicesOf('1', 'the last')).length === 1, {
      ...slow,
      awaited: 'the last message is stored',
    })
    const rows = badInput.filter((row) => !row.only || row.only === name)
    const accepted = rows.map((row, i) => [row, `user ${i + 1}`] as const)
    for (const [row, user] of accepted) {
      await until(async () => (await setup.devicesOf('1', user)).length === (row.accepted && !row.noDevice ? 1 : 0), {
        ...slow,
        awaited: `${row.title} is ${row.accepted ? 'accepted' : 'refused'}`,
      })
    }
    if (name === 'rest') return
    const refused = rows.filter((row) => !row.accepted)
    const parked = await until(
      async () => {
        const items = await setup.failed()
        return items.length === refused.length && items
      },
      { ...slow, awaited: `${refused.length} messages are parked` },
    )
    for (const row of refused) {
      const found = parked.find(({ error }) => row.error?.test(error))
      assert.ok(found, `${row.title}: parked with the expected error\n${parked.map(({ error }) => error).join('\n')}`)
      assert.equal(found.lane, '1/device-links')
      assert.match(JSON.parse(found.text).from, new RegExp(`^${name} `))
    }
  })
}

interface BadInput {
  readonly title: string
  readonly accepted: boolean
  /** Matches the error with which the message is parked. */
  readonly error?: RegExp
  /** The message is accepted but links no device. */
  readonly noDevice?: true
  readonly body?: (user: string) => Buffer
  readonly type?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  readonly only?: ChannelFixture['name']
}

const record = (user: string, over: object): Buffer =>
  Buffer.from(
    JSON.stringify({
      user_id: user,
      tokens: [{ token: user, channel: 'android', provider: 'firebase' }],
      timestamp: '2026-01-01T10:00:00Z',
      origin: 'www.example.com',
      ...over,
    }),
  )
const refusedInput = (title: string, error: RegExp, body: (user: string) => Buffer): BadInput => ({
  title,
  accepted: false,
  error,
  body,
})
const acceptedInput = (title: string, over: (user: string) => object, more: Partial<BadInput> = {}): BadInput => ({
  title,
  accepted: true,
  body: (user) => record(user, over(user)),
  ...more,
})

/** Rows about the message type, which REST has in the path. */
const forBrokers = (row: Omit<BadInput, 'only'>): BadInput[] => [
  { ...row, only: 'amqp' },
  { ...row, only: 'kafka' },
]

export const badInput: readonly BadInput[] = [
  ...forBrokers({ title: 'no type', accepted: false, error: /the message has no type/, type: undefined }),
  ...forBrokers({
    title: 'an empty type',
    accepted: false,
    error: /the message has no type/,
    type: '',
    body: (user) => record(user, { x: 1 }),
  }),
  ...forBrokers({ title: 'an unknown type', accepted: false, error: /"USER_LOGIN" is not known/, type: 'USER_LOGIN' }),
  ...forBrokers({
    title: 'another wrong type',
    accepted: false,
    error: /"USER_DEVICE_LINK " is not/,
    type: 'USER_DEVICE_LINK ',
  }),
  ...forBrokers({ title: 'the type in lower case', accepted: true, type: 'user_device_link' }),
  ...forBrokers({ title: 'the type in mixed case', accepted: true, type: 'User_Device_Link' }),
  {
    title: 'the type as a header only',
    accepted: false,
    error: /the message has no type/,
    type: undefined,
    headers: { type: 'USER_DEVICE_LINK' },
    only: 'amqp',
  },
  refusedInput('not JSON', /it is not JSON/, (user) => Buffer.from(`{"user_id":"${user}",`)),
  refusedInput('not an object', /not a JSON object/, () => Buffer.from('[]')),
  refusedInput('empty', /empty/, () => Buffer.alloc(0)),
  refusedInput('not UTF-8', /not UTF-8/, (user) =>
    Buffer.concat([
      record(user, {}).subarray(0, -1),
      Buffer.from(',"note":"'),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('"}'),
    ]),
  ),
  refusedInput('U+0000', /control character/, (user) => record(`${user}\0`, {})),
  refusedInput('a numeric user_id', /user_id is 1001/, (user) => record(user, { user_id: 1001 })),
  refusedInput('an empty user_id', /user_id is ""/, (user) => record(user, { user_id: '' })),
  refusedInput('no tokens', /tokens is missing/, (user) => record(user, { tokens: undefined })),
  refusedInput('tokens that are not an array', /tokens is a string/, (user) => record(user, { tokens: 'token' })),
  refusedInput('an unknown channel', /channel is "windows"/, (user) =>
    record(user, { tokens: [{ token: user, channel: 'windows', provider: 'firebase' }] }),
  ),
  refusedInput('no provider', /provider is missing/, (user) =>
    record(user, { tokens: [{ token: user, channel: 'web' }] }),
  ),
  refusedInput('an empty token', /token is an empty string/, (user) =>
    record(user, { tokens: [{ token: '', channel: 'web', provider: 'firebase' }] }),
  ),
  refusedInput('no timestamp', /timestamp is missing/, (user) => record(user, { timestamp: undefined })),
  refusedInput('an invalid timestamp', /timestamp is "yesterday": give a time in RFC 3339/, (user) =>
    record(user, { timestamp: 'yesterday' }),
  ),
  refusedInput('no origin', /origin is missing/, (user) => record(user, { origin: undefined })),
  refusedInput('5 MB', /5000\d{3} bytes|larger than/, (user) => record(user, { note: 'x'.repeat(5_000_000) })),
  acceptedInput('an empty array of tokens', () => ({ tokens: [] }), { noDevice: true }),
  acceptedInput('an hour with one digit', () => ({ timestamp: '2026-01-01T8:27:58.721607Z' })),
  acceptedInput('microseconds', () => ({ timestamp: '2026-01-01T10:00:00.123456Z' })),
  acceptedInput('nanoseconds and a zone', () => ({ timestamp: '2026-01-01T12:00:00.123456789+02:00' })),
  acceptedInput('a timestamp in the future', () => ({ timestamp: '2999-01-01T00:00:00Z' })),
  acceptedInput('unknown fields', () => ({ more: [1, { deep: true }], skip_publishing: true })),
]

/** Returns an unused name for a queue or a topic. */
export const uniqueName = (brand: Brand): string => `device-links-test-${randomUUID().slice(0, 8)}.${brand}`
