// What somebody without a key, a player with a token of their own, or a careless brand can try. Each says what must come of it.

import assert from 'node:assert/strict'
import { deviceId } from '../../../src/devices/identity.ts'
import { sendHalf } from './half-sent.ts'
import { type Answer, activity, type Player, type Target } from './target.ts'

export interface Attack {
  readonly name: string
  /** What must come of it. */
  readonly expected: string
  /** Once, before it is tried. */
  prepare?(target: Target): Promise<void>
  /** May be tried again and again. @throws AssertionError where it succeeds */
  run(target: Target, signal: AbortSignal): Promise<void>
}

const mallory = 'mallory'
/** A server may slow an attack down: what could not be tried in this time was held off. */
const longestMs = 20_000
/** Bad request; too many requests of this user, since a full run sends hundreds. */
const refusedLinks: ReadonlySet<number> = new Set([400, 429])
const isRefusal = (status: number): boolean => status >= 400 && status < 500
const firebase = (token: string): object => ({ token, provider: 'firebase' })
let made = 0
const madeUp = (count: number): readonly string[] =>
  Array.from({ length: count }, () => `made-up-${process.pid}-${++made}`)

export const attacks: readonly Attack[] = [
  {
    name: 'H1 half-sent bodies without a key',
    expected: 'answered 401 and closed before the body is kept',
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
      // With little to send, no answer is lost to a reset connection.
      for (const [url, path] of targets) {
        const answer = await sendHalf(url, path, Buffer.alloc(2, ' '), 10_000)
        assert.equal(answer.status, 401, `${path}: answered ${answer.status ?? 'nothing within 10 s'}`)
        assert.ok(answer.closed, `${path}: the connection stayed open for 10 s`)
      }
    },
  },
  {
    name: 'H2 headers for APNs that cannot be sent',
    expected: 'each message is failed; brand 2 goes on, and APNs is not paused',
    async prepare(target) {
      for (const brand of ['1', '2']) {
        const { link } = await target.device('apns')
        await linkAll(await target.player(brand, 'iphone'), [link])
      }
    },
    async run(target) {
      const poison = { overrides: { apns: { headers: { 'apns-push-type': 'a'.repeat(90_000) } } } }
      const { answers, batch } = await pushForty(target, 'iphone', poison)
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
    name: 'H3 devices without end',
    expected: 'at most 20 devices of a user remain, the newest among them',
    async run(target, signal) {
      const player = await target.player('1', 'collector')
      const enough = AbortSignal.any([signal, AbortSignal.timeout(longestMs)])
      let left = target.small ? 200 : 20_000
      const link = async (): Promise<void> => {
        while (left > 0 && !enough.aborted) {
          left -= 20
          await linkAll(player, madeUp(20).map(firebase))
        }
      }
      await Promise.all(Array.from({ length: 8 }, link))
      const last = madeUp(1)
      const linked = await linkAll(player, last.map(firebase))
      const devices = await devicesOf(player)
      assert.ok(devices.length <= 20, `${devices.length} devices remain`)
      assert.ok(!linked || devices.includes(deviceId(last[0] as string)), 'the newest device is not among them')
    },
  },
  {
    name: 'H3 kinds of devices that nobody has',
    expected: 'answered 400; no device, and no series of metrics',
    async run(target) {
      const player = await target.player('1', 'inventor')
      for (const provider of madeUp(target.small ? 50 : 500)) {
        const tokens = [{ token: `t-${provider}`, provider: `http:${provider}` }]
        const { status } = await player.ask('POST', '/app/devices/link', { tokens })
        assert.ok(refusedLinks.has(status), `provider http:${provider} was answered ${status}`)
      }
      assert.deepEqual(await devicesOf(player), [])
    },
  },
  {
    name: "H4 one user's 300 dead devices",
    expected: "the user's messages are failed, and dead devices of others are still removed",
    async run(target, signal) {
      const player = await target.player('2', mallory)
      const answers: Answer[] = []
      for (let linked = 0; linked < 300; linked += 20) {
        await linkAll(player, madeUp(20).map(firebase))
        answers.push(await target.push('2', mallory))
      }
      const user = `bystander-${++made}`
      const bystander = await target.player('1', user)
      const device = await target.device('fcm')
      await linkAll(bystander, [device.link])
      await target.remove(device)
      await target.push('1', user)
      const stopped = seriesOf(await target.metrics(), 'bellwire_removals_stopped')
      assert.deepEqual(
        stopped.filter(([, value]) => value !== 0),
        [],
        'removals are stopped',
      )
      await until('the dead device of another user was not removed', signal, async () => {
        return (await devicesOf(bystander)).length === 0
      })
      assertAllFailed(answers)
    },
  },
  {
    name: 'H5 members of a link that are not the user’s',
    expected: 'answered 400 with the name of the member, and nothing is linked',
    async run(target) {
      const player = await target.player('1', 'forger')
      const forged = { origin: 'www.two.example', skip_publishing: true, timestamp: '2001-01-01T00:00:00Z' }
      for (const what of ['link', 'unlink'])
        for (const [name, value] of Object.entries(forged)) {
          const body = { tokens: madeUp(1).map(firebase), [name]: value }
          const { status, json } = await player.ask('POST', `/app/devices/${what}`, body)
          assert.ok(refusedLinks.has(status), `${what} with ${name} was answered ${status}`)
          if (status === 400) assert.match(String(json.error), new RegExp(`\\b${name}\\b`))
        }
      assert.deepEqual(await devicesOf(player), [])
    },
  },
  {
    name: 'M2 decisions about all Failed Actions by mistake',
    expected: 'another content type is 415, no filter is 400, and nothing is decided',
    async prepare({ platform }) {
      const records = ['1', '1', '2'].map((brand) => JSON.stringify(activity(brand, 'nobody')))
      const type = { 'content-type': 'application/x-ndjson' }
      await platform.ask('POST', '/admin/activities/push', records.join('\n'), type)
      const signal = AbortSignal.timeout(20_000)
      await until('three messages did not become Failed Actions', signal, async () => {
        return (await failedActions(platform.ask)) === 3
      })
    },
    async run({ platform }) {
      const filter = '{"lane":"1/push","activity":"0"}'
      const answered = async (path: string, body: string, status: number, type = 'application/json'): Promise<void> => {
        const answer = await platform.ask('POST', path, body, { 'content-type': type })
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
      assert.equal(await failedActions(platform.ask), 3)
    },
  },
  {
    name: 'M3 guessing keys',
    expected: 'few log lines, and the right key still works',
    async run({ operator, platform, keys, small }, signal) {
      const before = wordy(operator) + wordy(platform)
      const urls = [`${operator.url}/channels/push/single`, `${platform.url}/admin/failed`]
      const enough = AbortSignal.any([signal, AbortSignal.timeout(longestMs)])
      let left = small ? 500 : 20_000
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
      const right = await operator.ask('POST', '/channels/push/single', activity('2', 'nobody'), {
        'x-api-key': keys['2'] as string,
      })
      assert.equal(right.status, 422, `the right key was answered ${right.status}: ${right.text}`)
      assert.equal((await platform.ask('GET', '/admin/failed')).status, 200)
      const lines = wordy(operator) + wordy(platform) - before
      assert.ok(lines <= 20, `${lines} log lines`)
    },
  },
  {
    name: 'M10 streams without end',
    expected: 'at most 10 streams of a user are open',
    async run({ operator, player }, signal) {
      const { authorization } = await player('1', 'streamer')
      const all = new AbortController()
      const open = (): Promise<Response> =>
        fetch(`${operator.url}/app/inbox/stream`, { headers: { authorization }, signal: all.signal })
      const statuses = (await Promise.all(Array.from({ length: 30 }, open))).map(({ status }) => status)
      all.abort()
      const opened = statuses.filter((status) => status === 200).length
      assert.ok(opened > 0 && opened <= 10, `${opened} of 30 streams were opened`)
      assert.ok(statuses.every((status) => status === 200 || isRefusal(status) || status === 503))
      await until('no stream could be opened after all were closed', signal, async () => {
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
    name: 'L6 NUL in a path or a query',
    expected: 'answered 400, without the name of a statement',
    async run({ operator, platform }) {
      const paths = [
        [operator, '/admin/devices?brand=1&user_id=a%00b'],
        [operator, '/admin/devices/removed?brand=1&user_id=a%00b'],
        [operator, '/admin/messages/a%00b'],
        [platform, '/admin/failed?user=a%00b'],
        [platform, '/admin/failed?lane=1%00push'],
      ] as const
      for (const [side, path] of paths) {
        const { status, text } = await side.ask('GET', path)
        assert.doesNotMatch(text, /statement/i, `${path} was answered ${status}: ${text}`)
        assert.equal(status, 400, `${path} was answered ${status}: ${text}`)
      }
    },
  },
]

/** Requests at a time of a platform's lane, by default. */
const concurrency = 4

/** Twenty single messages as a lane sends them, then a batch of twenty, all of brand 1. */
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
  return { answers, batch: await target.operator.ask('POST', '/channels/push/batch', records, key) }
}

/** @returns false: the player has linked too many within a minute */
async function linkAll(player: Player, tokens: readonly object[]): Promise<boolean> {
  const { status, text } = await player.ask('POST', '/app/devices/link', { tokens })
  assert.ok(status === 200 || status === 429, `linking was answered ${status}: ${text}`)
  return status === 200
}

async function devicesOf(player: Player): Promise<readonly string[]> {
  const { json } = await player.ask('GET', '/app/devices')
  return (json.devices as readonly { device: string }[]).map(({ device }) => device)
}

async function failedActions(ask: Target['platform']['ask']): Promise<number> {
  return ((await ask('GET', '/admin/failed')).json.items as readonly unknown[]).length
}

function assertAllFailed(answers: readonly Answer[]): void {
  const others = answers.filter(({ status }) => !isRefusal(status))
  assert.equal(others.length, 0, `${others.length} of ${answers.length} messages are not failed: ${others[0]?.text}`)
}

/** Log lines that are not about a message. */
function wordy({ lines }: Target['operator']): number {
  return lines().filter(({ event }) => !/^(message|batch|item|provider|device)\./.test(String(event))).length
}

/** @example seriesOf('a{b="c"} 1', 'a') // [['a{b="c"}', 1]] */
function seriesOf(metrics: string, name: string): readonly (readonly [series: string, value: number])[] {
  return metrics
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))])
}

async function until(otherwise: string, signal: AbortSignal, holds: () => Promise<boolean>): Promise<void> {
  const bound = AbortSignal.any([signal, AbortSignal.timeout(10_000)])
  while (!(await holds())) {
    if (bound.aborted) assert.fail(otherwise)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
