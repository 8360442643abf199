// `bellwire lanes`, `bellwire pause`, `bellwire resume` and `bellwire cancel` against a running platform.

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import type { LaneOptions } from '../../src/sides/platform/options.ts'
import { startConfiguredOperator } from '../support/configured-sides.ts'
import { adminKey, element, get, post, startPlatform, temporary, type Witness, witness } from '../support/sides.ts'
import { event, until } from '../support/wait.ts'
import { type Run, run } from './bellwire.ts'

const ofBrand1 = {
  name: 'brand 1',
  key: 'the-key-of-the-staff-1',
  scopes: ['counts', 'read', 'decide', 'attributes'],
  brands: ['1'],
} as const
const reader = { name: 'reader', key: 'the-key-of-the-reader', scopes: ['counts', 'read'] } as const

interface Bench {
  readonly url: string
  readonly providers: Readonly<Record<string, Witness>>
  bellwire(...args: string[]): Promise<Run>
}

/** A platform with the lanes 1/push, 1/site and 2/push. */
async function setUp(t: TestContext, over: Partial<LaneOptions> = {}): Promise<Bench> {
  const providers = { '1/push': witness(), '1/site': witness(), '2/push': witness() }
  const lanes = Object.entries(providers).map(([name, provider]): LaneOptions => {
    const [brand, channel] = name.split('/') as [string, 'push' | 'site']
    return { brand, channel, mode: 'batch', provider, spanMs: 5, ...over }
  })
  const { url } = await startPlatform(t, { lanes, keys: [adminKey, ofBrand1, reader] })
  const env = { BELLWIRE_URL: url, BELLWIRE_KEY: adminKey.key }
  return { url, providers, bellwire: (...args) => run(args, env) }
}

const lanesOf = async (url: string, key: string = adminKey.key) => (await get(`${url}/admin/lanes`, key)).body.lanes

test('a lane is paused and resumed; `bellwire lanes` shows who paused it, why and until when', async (t) => {
  const { url, providers, bellwire } = await setUp(t)
  const askedAt = Date.now()
  const paused = await bellwire('pause', '1/push', '--reason', 'the operator migrates', '--for', '2h')
  const answeredAt = Date.now()
  assert.equal(paused.code, 0, paused.err)
  await post(`${url}/admin/activities/push`, [element(), element({ brand_id: 2 })], adminKey.key)
  await until(() => providers['2/push']?.received.length, { awaited: 'the other lane sends' })
  const { code, out } = await bellwire('lanes')
  assert.equal(code, 0)
  assert.match(
    out,
    /^LANE +STATE +WAITING .*\n1\/push +paused +1 .*\n {2}the lane is paused by admin since \S+Z until \S+Z: the operator migrates\n1\/site +running +0/,
  )
  const [lane] = JSON.parse((await bellwire('lanes', '--json')).out).lanes
  const pausedFrom = lane.pauses[0].until - 7_200_000
  assert.ok(pausedFrom >= askedAt && pausedFrom <= answeredAt, 'until two hours after the command')
  assert.match(await (await fetch(`${url}/metrics`)).text(), /bellwire_lane_paused\{lane="1\/push"\} 1/)
  assert.equal(providers['1/push']?.received.length, 0)

  assert.match((await bellwire('resume', '1/push')).out, /^LANE.*\n1\/push +running/)
  await until(() => providers['1/push']?.received.length, { awaited: 'the resumed lane sends' })
  assert.match((await bellwire('resume', '1/push')).out, /^Lane 1\/push was not paused\.\n/)
})

test('a brand is paused with all its lanes; resuming one of its lanes does not end that', async (t) => {
  const { bellwire } = await setUp(t)
  const { out } = await bellwire('pause', '--brand', '1', '--reason', 'wrong campaign')
  assert.match(out, /1\/push +paused.*\n +the brand is paused by admin .*\n1\/site +paused/)
  assert.doesNotMatch(out, /2\/push/)
  const resumed = await bellwire('resume', '1/push')
  assert.match(
    resumed.out,
    /^Lane 1\/push was not paused\.\nStill paused\. To resume: bellwire resume --brand 1\nLANE.*\n1\/push +paused\b.*\n +the brand is paused/,
  )
  assert.match((await bellwire('resume', '--brand', '1')).out, /1\/push +running.*\n1\/site +running/)
})

test('an activity is paused while the other messages of the lane are sent', async (t) => {
  const { url, providers, bellwire } = await setUp(t)
  assert.equal((await bellwire('pause', '1/push', '--activity', '8', '--reason', 'wrong text')).code, 0)
  const records = [7, 8, 7, 8, 8].map((activity_id) => element({ activity_id }))
  await post(`${url}/admin/activities/push`, records, adminKey.key)
  const held = /1\/push +running +3 .*\n +activity 8 of the lane is paused, 3 messages held back, by admin since/
  await until(async () => held.test((await bellwire('lanes')).out), { awaited: 'three messages are held back' })
  assert.equal(providers['1/push']?.received.length, 2)
  assert.match(await (await fetch(`${url}/metrics`)).text(), /bellwire_lane_depth\{lane="1\/push",state="paused"\} 3/)
  assert.equal((await get(`${url}/admin/summary`)).body.waiting, 3)
  assert.match(
    (await bellwire('resume', '1/push')).out,
    /\nStill paused\. To resume: bellwire resume 1\/push --activity 8\n/,
  )
  const wrong = await bellwire('resume', '1/push', '--action', '8')
  assert.match(wrong.out, /^Action 8 of lane 1\/push was not paused\./)
  assert.doesNotMatch((await bellwire('resume', '1/push', '--activity', '8')).out, /is paused/)
  await until(() => providers['1/push']?.received.length === 5, { awaited: 'the held messages are sent' })
})

test('a held lane says why, in the words of the answer, and when it tries again; resume --now tries at once', async (t) => {
  let away = true
  const refused = { category: 'fatal', reason: 'misconfigured', blame: 'provider', rule: '§7.1 401' } as const
  const provider = witness(({ ref }) =>
    away
      ? { ...refused, error: 'wrong key', retryAfterMs: 170_000 }
      : { category: 'successful', ref, rule: 'accepted' },
  )
  const owned = event('lane.owned')
  const { url } = await startPlatform(t, {
    lanes: [{ brand: '1', channel: 'push', mode: 'batch', provider, spanMs: 5 }],
    keys: [adminKey],
  })
  const bellwire = (...args: string[]) => run(args, { BELLWIRE_URL: url, BELLWIRE_KEY: adminKey.key })
  // Before, the lane counts as a lane of another process.
  await owned
  assert.match((await bellwire('resume', '1/push', '--now')).out, /^Lane 1\/push was not held\.\n/)
  const held = event('lane.held')
  const { accepted } = (await post(`${url}/admin/activities/push`, [element()], adminKey.key)).body
  await held
  const line = /1\/push +held +1 .*\n {2}held for \d+ s: wrong key; next try in 2 min \d+ s$/m
  assert.match((await bellwire('lanes')).out, line)
  const [lane] = await lanesOf(url)
  assert.ok(lane.next_try_at > Date.now() + 100_000)
  assert.equal(lane.held_reason, 'wrong key')
  assert.match(
    (await bellwire('resume', '1/push')).out,
    /^Lane 1\/push was not paused\.\nIt is held: add --now to try now\.\n/,
  )
  away = false
  const released = event('lane.released')
  assert.match((await bellwire('resume', '1/push', '--now')).out, /^Trying now: 1\/push\.\n/)
  await released
  assert.match((await bellwire('lanes')).out, /1\/push +running .*\n {2}last error at \d{4}-\S+Z: wrong key$/m)
  assert.equal(accepted, 1)
})

test('settings are changed and reset; `bellwire lanes` shows them beside the configured values', async (t) => {
  const { bellwire } = await setUp(t, { concurrency: 4 })
  const args = ['--concurrency', '8', '--per-second', '50', '--span', '2s', '--reason', 'slow operator', '--for', '2h']
  const set = await bellwire('lanes', 'set', '1/push', ...args)
  assert.equal(set.code, 0, set.err)
  const { out } = await bellwire('lanes')
  assert.match(out, / {2}concurrency is 8 instead of 4, set by admin since \S+ until \S+: slow operator\n/)
  assert.match(out, / {2}per-second is 50 instead of no limit, set by admin/)
  assert.match(out, / {2}span is 2000 ms instead of 5 ms, set by admin/)
  assert.doesNotMatch((await bellwire('lanes', 'reset', '1/push', 'span', 'per-second')).out, /span|per-second/)
  assert.doesNotMatch((await bellwire('lanes', 'reset', '1/push')).out, /instead of/)
  assert.match((await bellwire('lanes', 'reset', '1/push')).out, /^Lane 1\/push already has the settings of the conf/)
})

test('waiting messages are cancelled after a preview, listed in Failed Actions, and replayed', async (t) => {
  const { url, providers, bellwire } = await setUp(t)
  await bellwire('pause', '--brand', '1', '--reason', 'wrong text')
  const records = [7, 8, 7, 8, 8].map((activity_id) => element({ activity_id }))
  await post(`${url}/admin/activities/push`, records, adminKey.key)
  await post(`${url}/admin/activities/site`, [element({ activity_id: 8 })], adminKey.key)
  const of8 = ['--activity', '8', '--reason', 'wrong text'] as const
  assert.equal((await bellwire('cancel', '1/push', ...of8, '--preview')).out, '3 messages would be cancelled.\n')
  const unconfirmed = await bellwire('cancel', '--brand', '1', ...of8)
  assert.equal(unconfirmed.code, 2)
  assert.match(unconfirmed.err, /Cancel 4 messages\? Give --yes to confirm, or --preview/)
  const cancelled = await bellwire('cancel', '--brand', '1', ...of8, '--yes')
  assert.equal(cancelled.out, '4 messages cancelled: see Failed Actions.\n', cancelled.err)
  const before = ['--until', '2026-01-31T10:00:00Z', '--reason', 'r', '--yes', '--json']
  assert.equal((await bellwire('cancel', '1/push', ...before)).out, '{"cancelled":0}\n')
  const { items } = (await get(`${url}/admin/failed?lane=1/push`)).body
  assert.partialDeepStrictEqual(items[0], { reason: 'cancelled', error: 'cancelled by admin: wrong text', attempts: 0 })
  assert.match(await (await fetch(`${url}/metrics`)).text(), /bellwire_cancelled_total\{lane="1\/push"\} 3/)
  await bellwire('resume', '--brand', '1')
  await until(() => providers['1/push']?.received.length === 2, { awaited: 'the other messages are sent' })
  await post(`${url}/admin/failed/replay`, { lane: '1/push' }, adminKey.key)
  await until(() => providers['1/push']?.received.length === 5, { awaited: 'the cancelled messages are replayed' })
  assert.equal(providers['1/site']?.received.length, 0)
})

test('a cancellation is repeated without effect, and belongs to the lanes that the key may see', async (t) => {
  const { url } = await setUp(t)
  await post(`${url}/admin/lanes/pause`, { brand: '2', reason: 'r' }, adminKey.key)
  await post(`${url}/admin/activities/push`, [element({ brand_id: 2 })], adminKey.key)
  const body = { lane: '2/push', all: true, reason: 'r', id: 'my-request' }
  assert.equal((await post(`${url}/admin/lanes/cancel`, body, ofBrand1.key)).status, 404)
  assert.equal((await post(`${url}/admin/lanes/cancel`, body, reader.key)).status, 403)
  for (let i = 0; i < 2; i++)
    assert.deepEqual((await post(`${url}/admin/lanes/cancel`, body, adminKey.key)).body, { id: 'my-request' })
  const list = async (key: string) => (await get(`${url}/admin/lanes/cancellations?id=my-request`, key)).body
  const [shown, ...others] = await until(
    async () => {
      const { cancellations } = await list(adminKey.key)
      return cancellations[0]?.done_at !== undefined && cancellations
    },
    { awaited: 'the cancellation is done' },
  )
  assert.partialDeepStrictEqual(shown, { lane: '2/push', by: 'admin', reason: 'r', cancelled: 1 })
  assert.deepEqual(others, [])
  assert.deepEqual(await list(ofBrand1.key), { cancellations: [] })
  for (const [wrong, message] of [
    [{ lane: '2/push', reason: 'r' }, /nothing is selected: send a filter \(activity, action, user, /],
    [{ ...body, user: 'a' }, /a filter and "all": true/],
    [{ ...body, id: 'a b' }, /id is "a b"/],
    [{ ...body, brand: '2' }, /send either lane \(one lane\) or brand/],
  ] as const) {
    const { status, body: answer } = await post(`${url}/admin/lanes/cancel`, wrong, adminKey.key)
    assert.equal(status, 400)
    assert.match(answer.error, message)
  }
  const cursor = { lane: '2/push', all: true, after: '1/push 0.0' }
  const preview = await post(`${url}/admin/lanes/cancel/preview`, cursor, adminKey.key)
  assert.match(preview.body.error, /after is not the `next` of a preview/)
})

test('an unknown lane or brand is no wrong address', async (t) => {
  const { bellwire } = await setUp(t)
  const lane = await bellwire('pause', '9/push', '--reason', 'wrong brand')
  assert.equal(lane.code, 2)
  assert.match(lane.err, /there is no lane "9\/push": GET \/admin\/lanes lists them\n$/)
  const brand = await bellwire('pause', '--brand', '9', '--reason', 'wrong brand')
  assert.match(brand.err, /brand 9 has no lane: GET \/admin\/lanes lists them\n$/)
})

test('mistakes of the command line and of a key are explained, and change nothing', async (t) => {
  const { url, bellwire } = await setUp(t)
  for (const [args, message] of [
    [['pause', '--reason', 'r'], /name either a lane, such as 1\/push, or --brand NUMBER/],
    [['pause', '1/push', '--brand', '1', '--reason', 'r'], /name either a lane/],
    [['pause', '1/push'], /required option '--reason <text>' not specified/],
    [['pause', '1/push', '--reason', 'r', '--for', '2'], /Add the unit: 2s, 2min or 2h/],
    [['pause', '3/push', '--reason', 'r'], /there is no lane "3\/push": GET \/admin\/lanes lists them/],
    [['pause', '1/push', '--activity', '7', '--action', '9', '--reason', 'r'], /send either activity or action/],
    [['lanes', 'set', '1/push', '--reason', 'r'], /no setting is given: add --mode, --max, --span/],
    [['lanes', 'set', '1/push', '--max', '0', '--reason', 'r'], /Give a whole number from 1/],
    [['lanes', 'reset', '1/push', 'speed'], /there is no setting speed: give mode, max, span/],
    [['cancel', '1/push', '--all'], /add --reason TEXT, or --preview/],
    [['cancel', '1/push', '--reason', 'r', '--yes'], /no message is selected: add --activity, --action, --user/],
    [
      ['cancel', '1/push', '--until', 'noon', '--preview'],
      /Give a time, such as 2026-01-31T10:00:00Z, or how long ago: 2h/,
    ],
    [['resume', '--brand', '3'], /brand 3 has no lane/],
    [['pause', '1/push', '--reason', ''], /Give a text of 1 to 500 characters/],
    [['resume', '1/push', '--key', reader.key], /the key reader lacks the scope decide/],
  ] as const) {
    const { code, err } = await bellwire(...args)
    assert.equal(code, 2, args.join(' '))
    assert.match(err, message)
  }
  assert.ok((await lanesOf(url)).every(({ pauses }: { pauses: unknown[] }) => pauses.length === 0))
})

test('a key that is bound to a brand sees and controls only the lanes of the brand', async (t) => {
  const { url } = await setUp(t)
  const names = (await lanesOf(url, ofBrand1.key)).map(({ name }: { name: string }) => name)
  assert.deepEqual(names, ['1/push', '1/site'])
  const note = { reason: 'r' }
  for (const target of [{ lane: '2/push' }, { brand: '2' }])
    assert.equal((await post(`${url}/admin/lanes/pause`, { ...target, ...note }, ofBrand1.key)).status, 404)
  assert.equal((await post(`${url}/admin/lanes/pause`, { brand: '1', ...note }, ofBrand1.key)).status, 200)
  const states = (await lanesOf(url)).map(({ state }: { state: string }) => state)
  assert.deepEqual(states, ['paused', 'paused', 'running'])
})

test('with a configuration of an operator alone, the commands control its lanes of device links', async (t) => {
  const file = join(await temporary(t), 'bellwire.yaml')
  const configuration = (port: string) => `
operator:
  port: ${port}
  keys: [{name: platform, key: the-key-of-platform-1, brands: [1]}]
  admin_keys: [{name: on call, key: ${adminKey.key}, scopes: [counts, read, decide]}]
  site: inbox
  suppression: none
  publish: [{brand: 1, to: {rest: "http://127.0.0.1:1", api_key: the-key-of-operator-1}}]
`
  await writeFile(file, configuration('0'))
  const { url } = await startConfiguredOperator(t, file)
  await writeFile(file, configuration(new URL(url).port))
  const bellwire = (...args: string[]) => run([...args, '--config', file])
  const listed = await bellwire('lanes')
  assert.deepEqual([listed.code, listed.err], [0, ''])
  assert.match(listed.out, /\n1\/device-links +running/)
  const paused = await bellwire('pause', '1/device-links', '--reason', 'the platform migrates')
  assert.match(paused.out, /1\/device-links +paused/, paused.err)
  assert.match((await bellwire('resume', '1/device-links')).out, /1\/device-links +running/)
  assert.equal((await bellwire('failed')).out, 'No Failed Actions.\n')
  assert.equal((await bellwire('failed', 'replay', '--all', '--yes')).code, 0)
})
