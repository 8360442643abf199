// What every channel of device links must do (§4.2, §4.3), against the real thing. Run by test/devices/channels/*.test.ts.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import test, { type TestContext } from 'node:test'
import { deviceMessageType } from '../../src/contract/endpoints.ts'
import type { DeviceMessage, DevicePublisher } from '../../src/devices/device-channel.ts'
import type { LinkChannel } from '../../src/devices/link-channels.ts'
import { oracle, sequences, type TestEvent } from '../devices/sequences.ts'
import { type Answer, adminKey, get, startPlatform } from '../support/sides.ts'
import { until } from '../support/wait.ts'

export type Brand = '1' | '2'
export const brands: readonly Brand[] = ['1', '2']
/** A platform gives each brand a key of its own. */
export const integrationKey = (brand: Brand): string => `integration-key-${brand}`

/** A message as a stranger would send it. */
export interface Raw {
  readonly type?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** A way to a platform for each brand, made for one test. */
export interface Line {
  /** What the platform consumes. */
  readonly channels: readonly LinkChannel[]
  publisher(platform: string, brand: Brand): DevicePublisher
  /** Sends as a stranger would, with another client than ours. @returns 'refused' where the sender is told */
  foreign(platform: string, brand: Brand, message: Raw): Promise<'accepted' | 'refused'>
}

export interface ChannelFixture {
  readonly name: 'rest' | 'amqp' | 'kafka'
  readonly skip: string | false
  open(t: TestContext): Promise<Line>
}

const context = () => ({ deadline: Date.now() + 20_000, signal: new AbortController().signal })
const slow = { withinMs: 45_000 }

export interface Bench {
  readonly line: Line
  readonly url: string
  devicesOf(brand: Brand, userId: string): Promise<Answer['body'][]>
  failed(): Promise<Answer['body'][]>
  /** Publishes until all is accepted: in order, or in order of each user where the channel goes by user. */
  publish(brand: Brand, messages: readonly DeviceMessage[]): Promise<void>
}

export async function startBench(t: TestContext, line: Line): Promise<Bench> {
  const keys = [
    adminKey,
    ...brands.map((brand) => ({
      name: `operator of ${brand}`,
      key: integrationKey(brand),
      scopes: ['devices' as const],
      brands: [brand],
    })),
  ]
  const { url } = await startPlatform(t, { keys, lanes: [], deviceLinks: line.channels })
  const publishers = new Map(brands.map((brand) => [brand, line.publisher(url, brand)]))
  t.after(() => Promise.all([...publishers.values()].map((publisher) => publisher.close())))
  return {
    line,
    url,
    devicesOf: async (brand, userId) =>
      (await get(`${url}/admin/devices?brand=${brand}&user_id=${userId}`)).body.devices,
    failed: async () => (await get(`${url}/admin/failed?state=pending&limit=1000`)).body.items,
    async publish(brand, messages) {
      const publisher = publishers.get(brand) as DevicePublisher
      const users = [...Map.groupBy(messages, ({ userId }) => userId).values()]
      const inTurn = publisher.concurrency === 1 ? [messages] : users
      const worker = async (): Promise<void> => {
        for (let mine = inTurn.pop(); mine; mine = inTurn.pop())
          for (let from = 0; from < mine.length; from += publisher.max)
            await accepted(publisher, mine.slice(from, from + publisher.max))
      }
      await Promise.all(Array.from({ length: publisher.concurrency }, worker))
    },
  }
}

async function accepted(publisher: DevicePublisher, messages: readonly DeviceMessage[]): Promise<void> {
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

/** Each sequence about a token of its own; at brand 2 the same, played backwards in time. */
function played(brand: Brand, sequence: readonly TestEvent[]): readonly TestEvent[] {
  const last = Math.max(...sequence.map(({ time }) => time))
  return brand === '1' ? sequence : sequence.map((event) => ({ ...event, time: last + 1 - event.time }))
}

export function deviceChannelSuite({ name, skip, open }: ChannelFixture): void {
  const check = (title: string, run: (bench: Bench, t: TestContext) => Promise<void>): void => {
    test(`${name}: ${title}`, { skip, timeout: 120_000 }, async (t) => run(await startBench(t, await open(t)), t))
  }

  check('linked, moved, unlinked, late, repeated, reordered: whose a device is ends as row 20 says', async (bench) => {
    // Every 80th of all sequences of up to 4 events: they differ in what, whom and when in every way.
    const all = sequences().filter((_, i) => i % 80 === 7)
    const events = (brand: Brand): DeviceMessage[] =>
      all.flatMap((sequence, n) => {
        const messages = played(brand, sequence).map(({ what, userId, time }) =>
          message(what, { user: `${userId}${n % 50}`, token: `token ${n}`, at: secondsAfter(time) }),
        )
        return n % 3 === 0 ? [...messages, ...messages] : messages
      })
    await Promise.all(brands.map((brand) => bench.publish(brand, events(brand))))
    const marker = message('link', { user: 'the last', token: 'the last' })
    for (const brand of brands) {
      const expected = new Map<string, number>()
      for (const [n, sequence] of all.entries()) {
        const owner = oracle(played(brand, sequence))
        if (owner !== undefined) expected.set(`${owner}${n % 50}`, (expected.get(`${owner}${n % 50}`) ?? 0) + 1)
      }
      await bench.publish(brand, [marker])
      const users = Array.from({ length: 50 }, (_, i) => [`a${i}`, `b${i}`]).flat()
      await until(
        async () => {
          const counts = await Promise.all(users.map((user) => bench.devicesOf(brand, user)))
          return counts.every((devices, i) => devices.length === (expected.get(users[i] as string) ?? 0))
        },
        { ...slow, awaited: `brand ${brand} is as row 20 says` },
      )
    }
    assert.deepEqual(await bench.failed(), [])
  })

  check('the same user and token of two brands are two people', async (bench) => {
    await bench.publish('1', [message('link')])
    await bench.publish('2', [message('link'), message('unlink', { at: '2026-01-01T10:00:01Z' })])
    await bench.publish('2', [message('link', { user: 'marker', token: 'marker' })])
    await until(async () => (await bench.devicesOf('2', 'marker')).length === 1, { ...slow, awaited: 'the marker' })
    await until(async () => (await bench.devicesOf('1', '1001')).length === 1, {
      ...slow,
      awaited: 'the link of brand 1',
    })
    await until(async () => (await bench.devicesOf('2', '1001')).length === 0, { ...slow, awaited: 'the unlink' })
  })

  check('a foreign producer is understood, whatever else it sends along', async (bench) => {
    const { line, url } = bench
    const body = Buffer.from(message('link', { user: 'foreign', more: { of: 'theirs' } }).body)
    const { link } = deviceMessageType
    assert.equal(
      await line.foreign(url, '1', { type: link, body, headers: { type: 'NOT_THIS', other: '1' } }),
      'accepted',
    )
    await until(async () => (await bench.devicesOf('1', 'foreign')).length === 1, { ...slow, awaited: 'it is linked' })
    assert.deepEqual(await bench.failed(), [])
  })

  check('bad input means the same everywhere, and holds up nothing', async (bench) => {
    const { line, url } = bench
    let n = 0
    for (const row of badInput) {
      if (row.only && row.only !== name) continue
      const user = `user ${++n}`
      const body = row.body ? row.body(user) : Buffer.from(message('link', { user, token: user }).body)
      const type = 'type' in row ? row.type : deviceMessageType.link
      const fate = await line.foreign(url, '1', { type, body, ...(row.headers && { headers: row.headers }) })
      if (name === 'rest') assert.equal(fate, row.accepted ? 'accepted' : 'refused', row.title)
    }
    await line.foreign(url, '1', {
      type: deviceMessageType.link,
      body: Buffer.from(message('link', { user: 'the last', token: 'the last' }).body),
    })
    await until(async () => (await bench.devicesOf('1', 'the last')).length === 1, {
      ...slow,
      awaited: 'what followed',
    })
    const rows = badInput.filter((row) => !row.only || row.only === name)
    const accepted = rows.map((row, i) => [row, `user ${i + 1}`] as const)
    for (const [row, user] of accepted) {
      await until(async () => (await bench.devicesOf('1', user)).length === (row.accepted && !row.noDevice ? 1 : 0), {
        ...slow,
        awaited: `${row.title} is ${row.accepted ? 'accepted' : 'refused'}`,
      })
    }
    if (name === 'rest') return
    const refused = rows.filter((row) => !row.accepted)
    const parked = await until(
      async () => {
        const items = await bench.failed()
        return items.length === refused.length && items
      },
      { ...slow, awaited: `${refused.length} are parked` },
    )
    for (const row of refused) {
      const found = parked.find(({ error }) => row.why?.test(error))
      assert.ok(found, `${row.title}: parked with its reason\n${parked.map(({ error }) => error).join('\n')}`)
      assert.equal(found.lane, '1/device-links')
      assert.match(JSON.parse(found.text).from, new RegExp(`^${name} `))
    }
  })
}

interface BadInput {
  readonly title: string
  readonly accepted: boolean
  /** What the reason says. */
  readonly why?: RegExp
  /** Accepted, and no device is linked by it. */
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
const refused = (title: string, why: RegExp, body: (user: string) => Buffer): BadInput => ({
  title,
  accepted: false,
  why,
  body,
})
const takenIn = (title: string, over: (user: string) => object, more: Partial<BadInput> = {}): BadInput => ({
  title,
  accepted: true,
  body: (user) => record(user, over(user)),
  ...more,
})

/** Over REST the path is the type: those rows are for messages. */
const typed = (row: Omit<BadInput, 'only'>): BadInput[] => [
  { ...row, only: 'amqp' },
  { ...row, only: 'kafka' },
]

export const badInput: readonly BadInput[] = [
  ...typed({ title: 'no type', accepted: false, why: /the message has no type/, type: undefined }),
  ...typed({
    title: 'an empty type',
    accepted: false,
    why: /the message has no type/,
    type: '',
    body: (user) => record(user, { x: 1 }),
  }),
  ...typed({ title: 'an unknown type', accepted: false, why: /"USER_LOGIN" is not known/, type: 'USER_LOGIN' }),
  ...typed({
    title: 'another wrong type',
    accepted: false,
    why: /"USER_DEVICE_LINK " is not/,
    type: 'USER_DEVICE_LINK ',
  }),
  ...typed({ title: 'the type in small letters', accepted: true, type: 'user_device_link' }),
  ...typed({ title: 'the type in mixed letters', accepted: true, type: 'User_Device_Link' }),
  {
    title: 'the type as a header only',
    accepted: false,
    why: /the message has no type/,
    type: undefined,
    headers: { type: 'USER_DEVICE_LINK' },
    only: 'amqp',
  },
  refused('not JSON', /it is not JSON/, (user) => Buffer.from(`{"user_id":"${user}",`)),
  refused('not an object', /not a JSON object/, () => Buffer.from('[]')),
  refused('empty', /empty/, () => Buffer.alloc(0)),
  refused('not UTF-8', /not UTF-8/, (user) =>
    Buffer.concat([
      record(user, {}).subarray(0, -1),
      Buffer.from(',"note":"'),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('"}'),
    ]),
  ),
  refused('U+0000', /control character/, (user) => record(`${user}\0`, {})),
  refused('a numeric user_id', /user_id is a number/, (user) => record(user, { user_id: 1001 })),
  refused('an empty user_id', /user_id is empty/, (user) => record(user, { user_id: '' })),
  refused('no tokens', /tokens is missing/, (user) => record(user, { tokens: undefined })),
  refused('tokens that are no array', /tokens is a string/, (user) => record(user, { tokens: 'token' })),
  refused('an unknown channel', /channel is "windows"/, (user) =>
    record(user, { tokens: [{ token: user, channel: 'windows', provider: 'firebase' }] }),
  ),
  refused('no provider', /provider is missing/, (user) => record(user, { tokens: [{ token: user, channel: 'web' }] })),
  refused('an empty token', /token is empty/, (user) =>
    record(user, { tokens: [{ token: '', channel: 'web', provider: 'firebase' }] }),
  ),
  refused('no timestamp', /timestamp is missing/, (user) => record(user, { timestamp: undefined })),
  refused('a timestamp that is none', /timestamp is not in RFC 3339/, (user) =>
    record(user, { timestamp: 'yesterday' }),
  ),
  refused('no origin', /origin is missing/, (user) => record(user, { origin: undefined })),
  refused('5 MB', /5000\d{3} bytes|larger than/, (user) => record(user, { note: 'x'.repeat(5_000_000) })),
  takenIn('no tokens in the array', () => ({ tokens: [] }), { noDevice: true }),
  takenIn('an hour of one digit', () => ({ timestamp: '2026-01-01T8:27:58.721607Z' })),
  takenIn('microseconds', () => ({ timestamp: '2026-01-01T10:00:00.123456Z' })),
  takenIn('nanoseconds and a zone', () => ({ timestamp: '2026-01-01T12:00:00.123456789+02:00' })),
  takenIn('a timestamp in the future', () => ({ timestamp: '2999-01-01T00:00:00Z' })),
  takenIn('fields that we do not know', () => ({ more: [1, { deep: true }], skip_publishing: true })),
]

/** A name of its own for a queue or a topic. */
export const ownName = (brand: Brand): string => `device-links-test-${randomUUID().slice(0, 8)}.${brand}`
