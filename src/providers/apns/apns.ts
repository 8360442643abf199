// Apple Push Notification service, by a signing key (.p8), in production and sandbox.

import type { Failed, Fatal } from '../../contract/outcome.ts'
import { clockCheck } from '../clock-check.ts'
import type { Exchanged } from '../exchange.ts'
import { createHttp2Client } from '../http2/client.ts'
import type { Check, SendContext } from '../provider.ts'
import { expired, lostPush, removeSecrets } from '../push-outcomes.ts'
import type { DeviceAnswer, Push, PushService } from '../push-service.ts'
import { judgeApns, readApnsAnswer } from './answer.ts'
import { apnsNotification, type Notification } from './notification.ts'
import { type ApnsKey, createProviderTokens } from './provider-token.ts'

export type Environment = 'production' | 'sandbox'

export interface ApnsOptions extends ApnsKey {
  /** The credential's name in the configuration. apns. */
  readonly name?: string
  /** The app (bundle id) of devices that do not say theirs. */
  readonly topic: string
  /** Further apps of the team; devices of other apps are not reached. */
  readonly apps?: readonly string[]
  /** Which of Apple's two worlds are used. Both. */
  readonly environments?: readonly Environment[]
  /** https://api.push.apple.com; http:// speaks HTTP/2 without TLS. */
  readonly baseUrl?: string
  /** https://api.sandbox.push.apple.com */
  readonly sandboxUrl?: string
  /** Certificates to trust instead of the system's, as PEM. */
  readonly ca?: string
  /** Most sends at a time. 1,000. */
  readonly concurrency?: number
  /** Most connections to each environment. 2. */
  readonly connections?: number
}

/**
 * Sends to devices of kind `apns`. One whose environment is not known is tried in production, and in the sandbox if its token is
 * not known there; which took it is remembered.
 *
 * @example
 * const service = apns({ key: await readFile('AuthKey_ABC.p8', 'utf8'), keyId: 'ABC…', teamId: 'DEF…', topic: 'com.example.app' })
 * await service.send({ ref, device, content: { title: 'Hello' }, expiresAt }, { deadline, signal })
 * // { category: 'successful', ref, rule: 'apns 200', providerId: '0192f0c1-…' }
 */
export function apns(options: ApnsOptions): PushService {
  const { name = 'apns', topic, apps = [], ca, concurrency = 1_000, connections = 2 } = options
  const { environments = ['production', 'sandbox'] } = options
  const addresses: Record<Environment, string> = {
    production: options.baseUrl ?? 'https://api.push.apple.com',
    sandbox: options.sandboxUrl ?? 'https://api.sandbox.push.apple.com',
  }
  const tokens = createProviderTokens(options)
  // A connection is bound to the key that it began with, so no service shares another's.
  const worlds = (['production', 'sandbox'] as const)
    .filter((environment) => environments.includes(environment))
    .map((environment) => {
      const { origin, pathname } = new URL(addresses[environment])
      const client = createHttp2Client({ origin, connections, ...(ca !== undefined && { ca }) })
      return { environment, origin, client, path: `${pathname.replace(/\/+$/, '')}/3/device/` }
    })
  type World = (typeof worlds)[number]
  /** Devices whose environment nobody said, and which the sandbox took: it is asked first from then on. */
  const inSandbox = new Set<string>()

  function post(
    { client, path }: World,
    hex: string,
    token: string,
    { headers, body }: Notification,
    context: SendContext,
  ): Promise<Exchanged> {
    return client.post({
      path: path + hex,
      headers: ['authorization', `bearer ${token}`, ...headers],
      unindexed,
      body,
      deadline: context.deadline,
      signal: context.signal,
    })
  }

  async function attempt(
    world: World,
    notification: Notification,
    push: Push,
    context: SendContext,
  ): Promise<DeviceAnswer> {
    for (let again = false; ; again = true) {
      const got = tokens.get(Date.now())
      const token = typeof got === 'string' ? got : await got
      const exchanged = await post(world, push.device.token, token, notification, context)
      if ('lost' in exchanged) return lostPush('apns', exchanged, context)
      const { status, headers } = exchanged
      const body = status === 200 ? '' : removeSecrets(exchanged.body.toString(), push.device.token, token)
      const answer = readApnsAnswer(status, headers, body, Date.now())
      if (answer.category === 'successful') return { ...answer, ref: push.ref }
      if (answer.rule === 'apns 429 TooManyProviderTokenUpdates') tokens.tooMany(token, Date.now())
      if (again || answer.rule !== 'apns 403 ExpiredProviderToken' || !tokens.expired(token, Date.now())) return answer
    }
  }

  /** For a device whose environment is not known. */
  async function tryEach(notification: Notification, push: Push, context: SendContext): Promise<DeviceAnswer> {
    const { token } = push.device
    let answer: DeviceAnswer = notHere
    for (const world of inSandbox.has(token) ? worlds.toReversed() : worlds) {
      answer = await attempt(world, notification, push, context)
      if (answer.rule === 'apns 400 BadDeviceToken') continue
      if (world.environment === 'sandbox' && answer.category === 'successful') rememberSandbox(token)
      return answer
    }
    return answer
  }

  function rememberSandbox(token: string): void {
    if (inSandbox.size >= mostRemembered) inSandbox.clear()
    inSandbox.add(token)
  }

  async function tryImpossible(world: World): Promise<readonly Check[]> {
    const context = { deadline: Date.now() + 10_000, signal: new AbortController().signal }
    const notification = {
      headers: ['apns-topic', topic, 'apns-push-type', 'alert'],
      body: '{"aps":{"alert":"check"}}',
    }
    const exchanged = await post(world, '0'.repeat(64), await tokens.get(Date.now()), notification, context)
    if ('lost' in exchanged) {
      const what = lostPush('apns', exchanged, context).error
      return [
        {
          ok: false,
          what: `${world.environment}: ${what}`,
          remedy: `check the network and firewalls on the way to ${world.origin}`,
        },
      ]
    }
    const { answer, remedy } = judgeApns(exchanged.status, exchanged.headers, exchanged.body.toString(), Date.now())
    const clock = clockCheck('APNs', exchanged.headers.date, Date.now())
    // The token cannot be one: who says so has taken key, team and topic.
    const ok = answer.category === 'successful' || answer.token !== undefined
    const what = ok
      ? `APNs (${world.environment}) takes key ${options.keyId} for ${topic}`
      : `${world.environment}: ${(answer as Fatal).error}`
    return [ok ? { ok, what } : { ok, what, remedy: remedy ?? 'try again later' }, ...(clock ? [clock] : [])]
  }

  return {
    name,
    concurrency,
    reaches: ({ kind, app, environment }) =>
      kind === 'apns' &&
      (app === undefined || app === topic || apps.includes(app)) &&
      (environment === undefined || environments.includes(environment)),
    send(push, context) {
      if (push.expiresAt <= Date.now()) return Promise.resolve(expired('apns'))
      if (!deviceToken.test(push.device.token)) return Promise.resolve(noToken)
      const notification = apnsNotification(push, topic)
      if ('category' in notification) return Promise.resolve(notification)
      const { environment } = push.device
      if (environment === undefined) return tryEach(notification, push, context)
      const world = worlds.find((each) => each.environment === environment)
      return world ? attempt(world, notification, push, context) : Promise.resolve(notHere)
    },
    async check() {
      return (await Promise.all(worlds.map(tryImpossible))).flat()
    },
    async close() {
      await Promise.all(worlds.map(({ client }) => client.close()))
    },
  }
}

/** They are developers' own, so these are many. */
const mostRemembered = 10_000

/** Apple asks for that: its table is small. */
const unindexed = ['apns-id', 'apns-expiration', 'apns-collapse-id']

/** Apple's tokens are 64 hexadecimal digits today and may become longer. Anything else could end the connection that all share. */
const deviceToken = /^[0-9A-Za-z]{1,400}$/

/** It says nothing about the credential, and the link stays: whoever linked it in the wrong form can link it again. */
const noToken: Failed = {
  category: 'failed',
  reason: 'rejected',
  rule: 'apns not sent: token',
  error: 'apns: the device token is not letters and digits (400 at most); link it in hexadecimal, as the app gets it',
}

const notHere: Fatal = {
  category: 'fatal',
  reason: 'misconfigured',
  blame: 'provider',
  rule: 'apns not sent: environment',
  error: "apns: the device's environment is not configured here; add it to environments",
}
