// The trouble of one counterpart stays its own: beside recipients that are refused, a push service that hangs and a push service that
// is away, the others get their messages as fast as without them.

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { listen } from '../../src/base/http/http.ts'
import { chain } from '../../src/base/http/mount.ts'
import { on } from '../../src/base/runtime/events.ts'
import { listenAt } from '../../src/base/runtime/local-server.ts'
import { createPlatform } from '../../src/sides/platform/create-platform.ts'
import type { Device } from '../../src/subjects/devices/device.ts'
import { deviceId } from '../../src/subjects/devices/identity.ts'
import { apns } from '../../src/subjects/providers/apns/apns.ts'
import { fcm } from '../../src/subjects/providers/fcm/fcm.ts'
import { httpService } from '../../src/subjects/providers/http/http.ts'
import { operatorApi } from '../../src/subjects/providers/operator-api.ts'
import type { PushService } from '../../src/subjects/providers/push-service.ts'
import { makeVapidKeys } from '../../src/subjects/providers/web-push/vapid.ts'
import { webPush } from '../../src/subjects/providers/web-push/web-push.ts'
import { apnsStandIn } from '../../src/tools/stand-ins/apns.ts'
import type { Fault } from '../../src/tools/stand-ins/faults.ts'
import { fcmDetail, fcmError, fcmStandIn } from '../../src/tools/stand-ins/fcm.ts'
import type { StandIn } from '../../src/tools/stand-ins/stand-in.ts'
import { startWebPushStandIn } from '../../src/tools/stand-ins/web-push.ts'
import { enqueue } from '../harness/http.ts'
import type { Proof } from '../harness/proof.ts'
import { startPushOperator } from '../harness/push-operator.ts'
import { percentile } from '../harness/steady-feed.ts'
import { adminKey, apiKeys } from '../plans.ts'

type Kind = 'fcm' | 'apns' | 'web-push' | 'http'
type NewDevice = () => Pick<Device, 'kind' | 'token' | 'app'> & { readonly environment?: 'production' | 'sandbox' }

/** The push services of the world, with a good and a troubled neighbour for each kind. */
interface World {
  services(): readonly PushService[]
  readonly good: Readonly<Record<Kind, NewDevice>>
  readonly troubled: Readonly<Record<Kind, Readonly<Record<Trouble, NewDevice>>>>
  close(): Promise<void>
}

const kinds: readonly Kind[] = ['fcm', 'apns', 'web-push', 'http']
/** refused: 30 % of the recipients. hanging: one push service never answers. away: one push service answers 503. */
const troubles = ['refused', 'hanging', 'away'] as const
type Trouble = (typeof troubles)[number]

export const neighbours: Proof = {
  name: 'neighbours',
  claims:
    'beside recipients that are refused, a push service that hangs and one that is away, the p95 of the others is within 2 × of the same messages without such neighbours, no device is unlinked, and each cause has one alert',
  boundSeconds: { small: 90, full: 1_800 },
  async run({ small, folder, print }, signal) {
    const [count, perSecond] = small ? [50, 200] : [10_000, 150]
    const world = await startWorld()
    const alone = await startPair(join(folder, 'alone'), world.services())
    const figures: Record<string, number> = { messages: 0, alerts: 0, unlinked: 0 }
    try {
      for (const kind of kinds)
        for (const trouble of troubles) {
          const name = `${kind}-${trouble}`
          // A push service is known to hang after a second.
          const rate = { count, perSecond, beginsAfterMs: trouble === 'hanging' ? 1_300 : 100 }
          // Both at the same time, so that other work on this machine slows both.
          const beside = await startPair(join(folder, name), world.services())
          const alerts: string[] = []
          const unlisten = on('provider.alert', ({ error }) => void alerts.push(error))
          try {
            const [aloneMs, besideMs] = await Promise.all([
              alone.measure(world.good[kind], undefined, rate, signal),
              beside.measure(world.good[kind], world.troubled[kind][trouble], rate, signal),
            ])
            const [p95, aloneP95] = [besideMs, aloneMs].map((ms) => Math.round(percentile(ms, 0.95))) as [
              number,
              number,
            ]
            print(
              `${name}: p95 ${p95} ms (p50 ${Math.round(percentile(besideMs, 0.5))}), alone ${aloneP95} ms (p50 ${Math.round(percentile(aloneMs, 0.5))}); alerts: ${alerts.join('; ') || 'none'}`,
            )
            assert.ok(
              p95 <= Math.max(2 * aloneP95, small ? leastMs.small : leastMs.full),
              `${name}: p95 ${p95} ms, alone ${aloneP95} ms`,
            )
            assert.equal(await beside.countRemoved(), 0, `${name}: devices were unlinked`)
            assert.equal(alerts.length, trouble === 'refused' ? 1 : 0, `${name}: ${alerts.join('; ')}`)
            figures[`${name}_p95_ms`] = p95
            figures[`${name}_alone_p95_ms`] = aloneP95
            figures.messages = (figures.messages ?? 0) + count
            figures.alerts = (figures.alerts ?? 0) + alerts.length
          } finally {
            unlisten()
            await beside.stop()
          }
        }
      return figures
    } finally {
      await alone.stop()
      await world.close()
    }
  },
}

/**
 * Below this, a busy machine decides and not the neighbour. Other tests run beside the small size: it finds a message that waits until
 * the attempt of its neighbour times out.
 */
const leastMs = { small: 2_500, full: 250 }
/** Messages before the measured ones. */
const warmUp = 30
/** The share of troubled messages. */
const share = 0.3

interface Rate {
  readonly count: number
  readonly perSecond: number
  /** How long the trouble lasts before the first measured message. */
  readonly beginsAfterMs: number
}

/** A platform and an operator. */
interface Pair {
  /** Resolves with the time of each good message, from the request to the platform until its push service accepted it. */
  measure(good: NewDevice, troubled: NewDevice | undefined, rate: Rate, signal: AbortSignal): Promise<readonly number[]>
  countRemoved(): Promise<number>
  stop(): Promise<void>
}

async function startPair(file: string, services: readonly PushService[]): Promise<Pair> {
  const operator = await startPushOperator(`sqlite:${file}-operator.db`, 'registry', services)
  const platform = createPlatform({
    store: `sqlite:${file}-platform.db`,
    keys: [{ name: 'proof', key: adminKey, scopes: ['enqueue', 'counts', 'read', 'decide', 'attributes'] }],
    lanes: [
      {
        brand: '1',
        channel: 'push',
        mode: 'batch',
        spanMs: 20,
        concurrency: 8,
        provider: operatorApi({ url: operator.url, apiKey: apiKeys['1'] as string }),
      },
    ],
  })
  await platform.start()
  const listening = await listen('platform', chain(platform.handler, platform.admin.handler))
  let id = 0
  const send = (users: readonly string[]) => {
    const activity = (user: string) => `{"id":${++id},"brand_id":1,"user_id":"${user}","activity_id":7}`
    return enqueue(
      listening.url,
      'push',
      users.map((user) => `{"activity":${activity(user)},"title":"To ${user}"}\n`).join(''),
    )
  }
  let measurement = 0
  const usersOf = (name: string, count: number): string[] =>
    Array.from({ length: count }, (_, i) => `${name}-${measurement}-${i}`)

  /** @returns the ids of the devices, each of its own user */
  async function link(users: readonly string[], create: NewDevice): Promise<readonly string[]> {
    const events = users.map((userId) => {
      const { kind, token, app = '', environment = '' as const } = create()
      const device = { kind, token, app, environment, id: deviceId(token), brand: '1', userId }
      return {
        what: 'link',
        ...device,
        channel: 'unknown',
        origin: 'proof',
        at: undefined,
        skipPublishing: false,
      } as const
    })
    for (let from = 0; from < events.length; from += 1_000)
      await operator.devices.storeEvents(events.slice(from, from + 1_000))
    return events.map(({ id: device }) => device)
  }

  return {
    async measure(good, troubled, { count, perSecond, beginsAfterMs }, signal) {
      measurement++
      const first = new Set(await link(usersOf('first', warmUp), good))
      const measured = new Map((await link(usersOf('good', count), good)).map((device, n) => [device, n]))
      const ofNeighbours = troubled ? usersOf('troubled', Math.round((count * share) / (1 - share)) + warmUp) : []
      if (troubled) await link(ofNeighbours, troubled)
      const sentAt: number[] = []
      const ms: number[] = []
      const unlisten = on('device.sent', ({ device, category }) => {
        if (category !== 'successful') return
        first.delete(device)
        const n = measured.get(device)
        if (n !== undefined) ms[n] = performance.now() - (sentAt[n] as number)
      })
      const waitUntil = async (isTrue: () => boolean): Promise<void> => {
        while (!isTrue()) {
          signal.throwIfAborted()
          await sleep(20)
        }
      }
      try {
        // The credential is accepted, and then the trouble begins, before the measured messages.
        await send(usersOf('first', warmUp))
        await waitUntil(() => first.size === 0)
        if (troubled) await send(ofNeighbours.splice(0, warmUp))
        await sleep(beginsAfterMs)
        const began = performance.now()
        const pace = ofNeighbours.length / count
        let sent = 0
        while (sent < count) {
          signal.throwIfAborted()
          const due = Math.min(count, Math.floor(((performance.now() - began) / 1_000) * perSecond) + 1)
          const users = usersOf('good', due).slice(sent)
          for (const i of users.keys()) sentAt[sent + i] = performance.now()
          sent = due
          await send([...users, ...ofNeighbours.splice(0, Math.ceil(users.length * pace))])
          await sleep(20)
        }
        await waitUntil(() => Object.keys(ms).length === count)
        return ms
      } finally {
        unlisten()
      }
    },
    countRemoved: async () => (await operator.devices.listRemoved({ brand: '1' }, 10)).length,
    async stop() {
      await platform.stop()
      await listening.close(100)
      await operator.stop()
    },
  }
}

async function startWorld(): Promise<World> {
  const google = await fcmStandIn()
  const apple = await apnsStandIn()
  const keys = makeVapidKeys()
  const vendors = await Promise.all(Array.from({ length: 4 }, () => startWebPushStandIn()))
  const [working, refusing, silent, away] = vendors as [Vendor, Vendor, Vendor, Vendor]
  refusing.play({ answer: { status: 403, body: '{"reason":"BadJwtToken"}' } })
  silent.play({ delayMs: 600_000 })
  away.play({ answer: { status: 503 } })
  const subscriptionOf = (vendor: Vendor) => () => ({
    kind: 'webpush' as const,
    token: vendor.subscribe({ applicationServerKey: keys.publicKey }),
  })
  /** Devices of a stand-in, all with the same fault. */
  const withFault = (standIn: StandIn, fault: Fault | undefined, create: () => string): (() => string) => {
    if (!fault) return create
    const tokens = new Set<string>()
    standIn.play({ tokens, ...fault })
    return () => {
      const token = create()
      tokens.add(token)
      return token
    }
  }
  const ofApple = (fault?: Fault, environment: 'production' | 'sandbox' = 'production') => {
    const create = withFault(apple, fault, () => apple.device({ environment }))
    return () => ({ kind: 'apns' as const, token: create(), environment })
  }
  const ofGoogle = (fault?: Fault) => {
    const create = withFault(google, fault, () => google.device())
    return () => ({ kind: 'fcm_token' as const, token: create() })
  }
  const withoutApnsKey = fcmError(401, 'UNAUTHENTICATED', 'Auth error from APNS', [fcmDetail('THIRD_PARTY_AUTH_ERROR')])
  const pager = createServer((request, response) => {
    const refused = request.url?.startsWith('/refused') === true
    request.resume().on('end', () => {
      response.writeHead(refused ? 403 : 200, { 'content-type': 'application/json' })
      response.end(refused ? '{"error":"this user is blocked"}' : '{"id":"x"}')
    })
  })
  const pagerUrl = await listenAt(pager)
  let pagers = 0
  const ofPager = (path: string) => () => ({ kind: 'http:pager' as const, token: `${path}-${pagers++}` })

  const hanging = subscriptionOf(silent)
  return {
    services: () => [
      fcm({ serviceAccount: google.credentials, baseUrl: google.url, ...(google.ca && { ca: google.ca }) }),
      apns({
        ...apple.credentials,
        topic: apple.topic,
        baseUrl: apple.url,
        sandboxUrl: apple.sandboxUrl,
        ...(apple.ca && { ca: apple.ca }),
      }),
      webPush({
        ...keys,
        subject: 'mailto:ops@example.com',
        origins: Object.fromEntries(vendors.map(({ url }) => [new URL(url).origin, url])),
      }),
      httpService({ name: 'pager', url: `${pagerUrl}/{{token}}`, body: { title: '{{title}}' } }),
    ],
    good: { fcm: ofGoogle(), apns: ofApple(), 'web-push': subscriptionOf(working), http: ofPager('good') },
    troubled: {
      fcm: { refused: ofGoogle({ answer: withoutApnsKey }), hanging, away: subscriptionOf(away) },
      apns: {
        refused: ofApple({ answer: { status: 400, body: '{"reason":"DeviceTokenNotForTopic"}' } }),
        hanging: ofApple({ delayMs: 600_000 }, 'sandbox'),
        away: ofGoogle({ answer: fcmError(503, 'UNAVAILABLE', 'The service is unavailable') }),
      },
      'web-push': { refused: subscriptionOf(refusing), hanging, away: subscriptionOf(away) },
      http: { refused: ofPager('refused'), hanging, away: ofGoogle({ answer: fcmError(503, 'UNAVAILABLE', 'away') }) },
    },
    async close() {
      pager.closeAllConnections()
      pager.close()
      await Promise.all([google, apple, ...vendors].map((standIn) => standIn.close()))
    },
  }
}

type Vendor = Awaited<ReturnType<typeof startWebPushStandIn>>

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
