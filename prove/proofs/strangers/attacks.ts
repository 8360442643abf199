// Attacks by a client without a key, by a user with a valid token, and by a careless brand, each with its required result.

import assert from 'node:assert/strict'
import { deviceId } from '../../../src/subjects/devices/identity.ts'
import { manyConnections } from './connections.ts'
import { flood } from './flood.ts'
import { sendHalf } from './half-sent.ts'
import { hangingHost } from './hanging-host.ts'
import { restarts, unknownStatuses } from './hostile-operator.ts'
import { madeUpTokens } from './made-up-tokens.ts'
import { assertRemovalsGoOn, countOtherLines, seriesOf, waitUntil } from './observe.ts'
import { playerRows } from './player-rows.ts'
import { manyPollers } from './pollers.ts'
import { smallChunks } from './small-chunks.ts'
import { type Answer, activity, type Target, type UserApp } from './target.ts'

export interface Attack {
  readonly name: string
  /** The required result. */
  readonly expected: string
  /** Whether it also attacks a mounted handler: in both sizes, in the full size, or never. */
  readonly mounted: 'always' | 'full' | 'never'
  /** The most growth of one process, if lower than that of other attacks. */
  readonly maxMemoryBytes?: number
  /** Runs once before the attack. */
  prepare?(target: Target): Promise<void>
  /** Runs the attack, which may be repeated. @throws AssertionError if it succeeds */
  run(target: Target, signal: AbortSignal): Promise<void>
}

const mallory = 'mallory'
/** The time limit of an attack: a server may slow it down. */
const maxMs = 20_000
/** Bad request, or too many requests of this user: a full run sends hundreds. */
const refusedLinks: ReadonlySet<number> = new Set([400, 429])
const isRefusal = (status: number): boolean => status >= 400 && status < 500
const firebase = (token: string): object => ({ token, provider: 'firebase' })
let created = 0
const createTokens = (count: number): readonly string[] =>
  Array.from({ length: count }, () => `made-up-${process.pid}-${++created}`)

export const attacks: readonly Attack[] = [
  {
    name: 'H1 half-sent bodies without a key',
    expected: 'answered 401, and the connection is closed before the body is stored',
    mounted: 'always',
    // Receiving the bodies would add 100 MB of garbage, keeping them 343 MB.
    maxMemoryBytes: 48 * 1024 * 1024,
    async run({ operator, platform }) {
      const body = Buffer.alloc(16_000_000, ' ')
      const paths = ['/channels/push/single', '/channels/push/batch', '/channels/site/single', '/app/devices/link']
      const targets = [
        ...paths.map((path) => [operator.url, path] as const),
        [operator.url, '/admin/devices/link'] as const,
        [platform.url, '/admin/failed/dismiss'] as const,
        [platform.url, '/admin/activities/push'] as const,
      ]
      const sockets = Array.from({ length: 30 }, (_, i) => targets[i % targets.length] as (typeof targets)[0])
      const answers = await Promise.all(sockets.map(([url, path]) => sendHalf(url, path, body, 10_000)))
      const open = answers.filter(({ closed }) => !closed).length
      assert.equal(open, 0, `${open} of 30 connections stayed open for 10 s`)
      assert.ok(answers.every(({ status = 401 }) => status === 401))
      // With a short body, no answer is lost because of a reset connection.
      const short = await Promise.all(targets.map(([url, path]) => sendHalf(url, path, Buffer.alloc(2, ' '), 10_000)))
      for (const [i, { status, closed }] of short.entries()) {
        const [, path] = targets[i] as (typeof targets)[0]
        assert.equal(status, 401, `${path}: answered ${status ?? 'nothing within 10 s'}`)
        assert.ok(closed, `${path}: the connection stayed open for 10 s`)
      }
    },
  },
  {
    name: 'H2 headers for APNs that cannot be sent',
    expected: 'each message fails; brand 2 continues, and APNs is not paused',
    mounted: 'full',
    async prepare(target) {
      for (const brand of ['1', '2']) {
        const { link } = await target.device('apns')
        await linkAll(await target.userApp(brand, 'iphone'), [link])
      }
    },
    async run(target) {
      const invalidHeaders = { overrides: { apns: { headers: { 'apns-push-type': 'a'.repeat(90_000) } } } }
      const { answers, batch } = await pushForty(target, 'iphone', invalidHeaders)
      const other = await target.push('2', 'iphone')
      assert.equal(other.status, 200, `a push of brand 2 was answered ${other.status}: ${other.text}`)
      const paused = seriesOf(await target.metrics(), 'bellwire_provider_paused')
      assert.deepEqual(
        paused.filter(([, value]) => value !== 0),
        [],
        'a service is paused',
      )
      assertAllFailed(answers)
      assert.partialDeepStrictEqual(batch, { status: 200, json: { successful: [], fatal: [] } })
    },
  },
  {
    name: 'H3 unlimited devices',
    expected: 'at most 20 devices of a user remain, the newest among them',
    mounted: 'full',
    async run(target, signal) {
      const player = await target.userApp('1', 'collector')
      const enough = AbortSignal.any([signal, AbortSignal.timeout(maxMs)])
      let left = target.small ? 200 : 20_000
      const link = async (): Promise<void> => {
        while (left > 0 && !enough.aborted) {
          left -= 10
          await linkAll(player, createTokens(10).map(firebase))
        }
      }
      await Promise.all(Array.from({ length: 8 }, link))
      const last = createTokens(1)
      const linked = await linkAll(player, last.map(firebase))
      const devices = await devicesOf(player)
      assert.ok(devices.length <= 20, `${devices.length} devices remain`)
      assert.ok(!linked || devices.includes(deviceId(last[0] as string)), 'the newest device is not among them')
    },
  },
  {
    name: 'H3 invented kinds of devices',
    expected: 'answered 400, without a new device or metric',
    mounted: 'full',
    async run(target) {
      const player = await target.userApp('1', 'inventor')
      for (const provider of createTokens(target.small ? 12 : 40)) {
        const tokens = [{ token: `t-${provider}`, provider: `http:${provider}` }]
        const { status } = await player.request('POST', '/app/devices/link', { tokens })
        assert.ok(refusedLinks.has(status), `provider http:${provider} was answered ${status}`)
      }
      assert.deepEqual(await devicesOf(player), [])
    },
  },
  playerRows,
  {
    name: "H4 one user's dead devices",
    expected: "the user's messages fail, and dead devices of other users are still removed",
    mounted: 'full',
    async run(target, signal) {
      const player = await target.userApp('2', mallory)
      const answers: Answer[] = []
      for (let linked = 0; linked < (target.small ? 30 : 300); linked += 10) {
        await linkAll(player, createTokens(10).map(firebase))
        answers.push(await target.push('2', mallory))
      }
      const user = `bystander-${++created}`
      const bystander = await target.userApp('1', user)
      const device = await target.device('fcm')
      await linkAll(bystander, [device.link])
      await target.remove(device)
      await target.push('1', user)
      await assertRemovalsGoOn(target)
      await waitUntil('the dead device of another user was not removed', signal, async () => {
        return (await devicesOf(bystander)).length === 0
      })
      assertAllFailed(answers)
    },
  },
  {
    name: 'H5 members of a link that a user may not set',
    expected: 'answered 400 with the name of the member, and nothing is linked',
    mounted: 'full',
    async run(target) {
      const player = await target.userApp('1', 'forger')
      const forged = { origin: 'www.two.example', skip_publishing: true, timestamp: '2001-01-01T00:00:00Z' }
      for (const what of ['link', 'unlink'])
        for (const [name, value] of Object.entries(forged)) {
          const body = { tokens: createTokens(1).map(firebase), [name]: value }
          const { status, json } = await player.request('POST', `/app/devices/${what}`, body)
          assert.ok(refusedLinks.has(status), `${what} with ${name} was answered ${status}`)
          if (status === 400) assert.match(String(json.error), new RegExp(`\\b${name}\\b`))
        }
      assert.deepEqual(await devicesOf(player), [])
    },
  },
  {
    name: 'M2 accidental decisions about all Failed Actions',
    expected: 'another content type is answered 415, a missing filter 400, and no decision is made',
    mounted: 'full',
    async prepare({ platform }) {
      const records = ['1', '1', '2'].map((brand) => JSON.stringify(activity(brand, 'nobody')))
      const type = { 'content-type': 'application/x-ndjson' }
      await platform.request('POST', '/admin/activities/push', records.join('\n'), type)
      const signal = AbortSignal.timeout(20_000)
      await waitUntil('three messages did not become Failed Actions', signal, async () => {
        return (await failedActions(platform.request)) === 3
      })
    },
    async run({ platform }) {
      const filter = '{"lane":"1/push","activity":"0"}'
      const answered = async (path: string, body: string, status: number, type = 'application/json'): Promise<void> => {
        const answer = await platform.request('POST', path, body, { 'content-type': type })
        assert.equal(
          answer.status,
          status,
          `${path} with ${type} '${body}' was answered ${answer.status}: ${answer.text}`,
        )
      }
      for (const path of ['/admin/failed/dismiss', '/admin/failed/replay']) {
        for (const type of ['application/x-ndjson', 'text/csv', 'text/plain']) await answered(path, filter, 415, type)
        for (const body of ['{}', '', '{"all":false}']) await answered(path, body, 400)
      }
      assert.equal(await failedActions(platform.request), 3)
    },
  },
  {
    name: 'M3 guessing keys',
    expected: 'few log lines, and a key that was used before still works',
    mounted: 'always',
    async prepare({ platform }) {
      await platform.request('GET', '/admin/failed')
    },
    async run({ operator, platform, keys, small }, signal) {
      const before = countOtherLines(operator) + countOtherLines(platform)
      const urls = [`${operator.url}/channels/push/single`, `${platform.url}/admin/failed`]
      const enough = AbortSignal.any([signal, AbortSignal.timeout(maxMs)])
      let left = small ? 300 : 20_000
      const guess = async (): Promise<void> => {
        while (left-- > 0 && !enough.aborted) {
          const url = urls[left % urls.length] as string
          const headers = { 'x-api-key': `guess-${left}-0123456789abcdef`, 'content-type': 'application/json' }
          const response = await fetch(url, { method: left % 2 ? 'GET' : 'POST', headers, signal: enough }).catch(
            () => undefined,
          )
          await response?.arrayBuffer()
          assert.ok(
            response === undefined || [401, 429, 503].includes(response.status),
            `a guess was answered ${response?.status}`,
          )
        }
      }
      await Promise.all(Array.from({ length: 8 }, guess))
      const right = await operator.request('POST', '/channels/push/single', activity('2', 'nobody'), {
        'x-api-key': keys['2'] as string,
      })
      assert.equal(right.status, 422, `the right key was answered ${right.status}: ${right.text}`)
      const admin = await platform.request('GET', '/admin/failed')
      assert.equal(admin.status, 200, `the right key was answered ${admin.status}: ${admin.text}`)
      const lines = countOtherLines(operator) + countOtherLines(platform) - before
      assert.ok(lines <= 20, `${lines} log lines`)
    },
  },
  {
    name: 'M10 unlimited streams',
    expected: 'at most 10 streams of a user stay open, and the newest is served',
    mounted: 'always',
    async run({ operator, userApp, metrics }, signal) {
      const { authorization } = await userApp('1', 'streamer')
      const all = new AbortController()
      const open = (): Promise<Response> =>
        fetch(`${operator.url}/app/inbox/stream`, { headers: { authorization }, signal: all.signal })
      const statuses = (await Promise.all(Array.from({ length: 30 }, open))).map(({ status }) => status)
      assert.ok(statuses.every((status) => status === 200 || isRefusal(status) || status === 503))
      await waitUntil('more than 10 streams stay open', signal, async () => {
        const [[, open] = []] = seriesOf(await metrics(), 'bellwire_inbox_streams')
        return open !== undefined && open > 0 && open <= 10
      })
      all.abort()
      await waitUntil('no stream could be opened after all were closed', signal, async () => {
        const closing = new AbortController()
        const { status } = await fetch(`${operator.url}/app/inbox/stream`, {
          headers: { authorization },
          signal: closing.signal,
        })
        closing.abort()
        return status === 200
      })
    },
  },
  {
    name: 'S1 pipelined requests whose answers are not read',
    expected: 'the connections are closed at the fifth unanswered request',
    mounted: 'always',
    async run({ operator, platform, userApp, small }, signal) {
      const { authorization } = await userApp('1', 'pipeliner')
      const get = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: a\r\nauthorization: ${authorization}\r\n\r\n`
      for (const { url } of [operator, platform])
        for (const path of ['/openapi.json', '/healthz', '/app/inbox?limit=100', '/nothing']) {
          const count = small ? 10 : 60
          const attack = flood(url, count, get(path).repeat(small ? 100 : 500))
          try {
            await waitUntil(`connections stayed open at ${path}`, signal, async () => attack.closed() === count)
          } finally {
            attack.stop()
          }
        }
      await assertAlive({ operator, platform })
    },
  },
  {
    name: 'S2, S5 declared bodies that never arrive',
    expected: 'no memory is reserved, and device links, statuses and other users are served',
    mounted: 'always',
    async run({ operator, platform, userApp, small }) {
      const { authorization } = await userApp('1', mallory)
      const other = await userApp('2', 'writer')
      const head = (path: string, length: number, headers: string): string =>
        `POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n${headers}\r\n`
      const signature = `webhook-id: x\r\nwebhook-timestamp: ${Math.floor(Date.now() / 1_000)}\r\nwebhook-signature: v1,${Buffer.alloc(32).toString('base64')}\r\n`
      const attacks = [
        flood(platform.url, 64, head('/v1/integration/message/status', 4 * 1024 * 1024, signature)),
        flood(operator.url, 256, head('/app/inbox/mark', 128 * 1024, `authorization: ${authorization}\r\n`)),
      ]
      try {
        const mark = await other.request('POST', '/app/inbox/mark', { as: 'read', up_to: '1' })
        assert.equal(mark.status, 200, `another user was answered ${mark.status}: ${mark.text}`)
        const enqueued = await platform.request('POST', '/admin/failed/dismiss', { lane: '1/push', activity: '0' })
        assert.equal(enqueued.status, 200, `the platform answered ${enqueued.status}: ${enqueued.text}`)
        // The harm is done by bodies that are awaited, not by new connections.
        if (!small) await new Promise((resolve) => setTimeout(resolve, 2_000))
      } finally {
        for (const attack of attacks) attack.stop()
      }
      await assertAlive({ operator, platform })
    },
  },
  {
    name: 'S6 refused requests with long paths and junk tokens',
    expected: 'few log lines',
    mounted: 'always',
    async run({ operator, platform, small }) {
      const before = countOtherLines(operator) + countOtherLines(platform)
      for (let i = 0; i < (small ? 25 : 500); i++)
        for (const { url } of [operator, platform]) {
          const headers = { authorization: 'Bearer junk' }
          await (await fetch(`${url}/${'x'.repeat(12_000)}`)).arrayBuffer()
          await (await fetch(`${url}/app/inbox`, { headers })).arrayBuffer()
        }
      const lines = countOtherLines(operator) + countOtherLines(platform) - before
      assert.ok(lines <= 10, `${lines} log lines`)
    },
  },
  {
    name: 'L6 NUL in a path or a query',
    expected: 'answered 400, without the name of an SQL statement',
    mounted: 'always',
    async run({ operator, platform }) {
      const paths = [
        [operator, '/admin/devices?brand=1&user_id=a%00b'],
        [operator, '/admin/devices/removed?brand=1&user_id=a%00b'],
        [operator, '/admin/messages/a%00b'],
        [platform, '/admin/failed?user=a%00b'],
        [platform, '/admin/failed?lane=1%00push'],
      ] as const
      for (const [side, path] of paths) {
        const { status, text } = await side.request('GET', path)
        assert.doesNotMatch(text, /statement/i, `${path} was answered ${status}: ${text}`)
        assert.equal(status, 400, `${path} was answered ${status}: ${text}`)
      }
    },
  },
  smallChunks,
  manyPollers,
  restarts,
  unknownStatuses,
  manyConnections,
  madeUpTokens,
  hangingHost,
]

async function assertAlive(sides: Pick<Target, 'operator' | 'platform'>): Promise<void> {
  for (const side of [sides.operator, sides.platform])
    assert.equal((await side.request('GET', '/healthz')).status, 200, 'a process does not answer')
}

/** The default concurrency of a platform's lane. */
const concurrency = 4

/** Sends twenty single messages, as a lane does, and a batch of twenty, all of brand 1. */
export async function pushForty(
  target: Target,
  user: string,
  content: object,
): Promise<{ readonly answers: readonly Answer[]; readonly batch: Answer }> {
  const answers: Answer[] = []
  while (answers.length < 20)
    answers.push(...(await Promise.all(Array.from({ length: concurrency }, () => target.push('1', user, content)))))
  const records = Array.from({ length: 20 }, () => activity('1', user, content))
  const key = { 'x-api-key': target.keys['1'] as string }
  return { answers, batch: await target.operator.request('POST', '/channels/push/batch', records, key) }
}

/** @returns false if the user has linked too many devices within a minute */
async function linkAll(player: UserApp, tokens: readonly object[]): Promise<boolean> {
  const { status, text } = await player.request('POST', '/app/devices/link', { tokens })
  assert.ok(status === 200 || status === 429, `linking was answered ${status}: ${text}`)
  return status === 200
}

async function devicesOf(player: UserApp): Promise<readonly string[]> {
  const { json } = await player.request('GET', '/app/devices')
  return (json.devices as readonly { device: string }[]).map(({ device }) => device)
}

async function failedActions(request: Target['platform']['request']): Promise<number> {
  return ((await request('GET', '/admin/failed')).json.items as readonly unknown[]).length
}

function assertAllFailed(answers: readonly Answer[]): void {
  const others = answers.filter(({ status }) => !isRefusal(status))
  assert.equal(others.length, 0, `${others.length} of ${answers.length} messages did not fail: ${others[0]?.text}`)
}
