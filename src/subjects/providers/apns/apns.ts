// Apple Push Notification service (APNs) with a signing key (.p8), in the environments production and sandbox.

import type { Exchanged } from '../../../base/http-client/exchange.ts'
import { createHttp2Client } from '../../../base/http2/client.ts'
import { type Check, fails } from '../../../base/runtime/check.ts'
import { clock } from '../../../base/runtime/clock.ts'
import { apnsTokenForm } from '../../../contract/device-token.ts'
import type { Failed, Fatal } from '../../../contract/outcome.ts'
import { clockCheck } from '../clock-check.ts'
import type { Judgement } from '../judge-answer.ts'
import type { SendContext } from '../provider.ts'
import { expired, type Lost, lostPush, removeSecrets } from '../push-outcomes.ts'
import type { DeviceAnswer, Push, PushService } from '../push-service.ts'
import { judgeApns } from './answer.ts'
import { apnsNotification, type Notification } from './notification.ts'
import { type ApnsKey, createProviderTokens } from './provider-token.ts'

export type Environment = 'production' | 'sandbox'

export interface ApnsOptions extends ApnsKey {
  /** Name of the credential in the configuration. Default: apns. */
  readonly name?: string
  /** The app (bundle id) of devices for which no app is known. */
  readonly topic: string
  /** Further apps of the team. Devices of other apps are not reached. */
  readonly apps?: readonly string[]
  /** APNs environments to use. Default: both. */
  readonly environments?: readonly Environment[]
  /** URL of production. Default: https://api.push.apple.com. An http:// URL uses HTTP/2 without TLS. */
  readonly baseUrl?: string
  /** URL of the sandbox. Default: https://api.sandbox.push.apple.com. */
  readonly sandboxUrl?: string
  /** Certificates to trust instead of the system's, as PEM. */
  readonly ca?: string
  /** Maximum number of sends in flight to one environment. Default: 1,000. */
  readonly concurrency?: number
  /** Maximum number of sends in a second, in each process. Default: no limit. */
  readonly perSecond?: number | undefined
  /** Maximum number of connections to each environment. Default: one for each 500 of `concurrency`. */
  readonly connections?: number
  /** An HTTP proxy for all connections: http://user:password@proxy:3128. Default: direct connections. */
  readonly proxy?: string | undefined
}

/**
 * Sends to devices of kind `apns`. If the environment of a device is unknown, production is tried first, then the sandbox. A
 * device that the sandbox accepted is remembered.
 *
 * @example
 * const service = apns({ key: await readFile('AuthKey_ABC.p8', 'utf8'), keyId: 'ABC…', teamId: 'DEF…', topic: 'com.example.app' })
 * await service.send({ ref, device, content: { title: 'Hello' }, expiresAt }, { deadline, signal })
 * // { category: 'successful', ref, rule: 'apns 200', providerId: '0192f0c1-…' }
 */
export function apns(options: ApnsOptions): PushService {
  const { name = 'apns', topic, apps = [], ca, concurrency = 1_000, proxy } = options
  const { environments = ['production', 'sandbox'], connections = Math.ceil(concurrency / 500) } = options
  const addresses: Record<Environment, string> = {
    production: options.baseUrl ?? 'https://api.push.apple.com',
    sandbox: options.sandboxUrl ?? 'https://api.sandbox.push.apple.com',
  }
  const tokens = createProviderTokens(options)
  // APNs binds a connection to the key of its first request, so each service has connections of its own.
  const targets = (['production', 'sandbox'] as const)
    .filter((environment) => environments.includes(environment))
    .map((environment) => {
      const { origin, pathname } = new URL(addresses[environment])
      const client = createHttp2Client({ origin, connections, proxy, ...(ca !== undefined && { ca }) })
      return { environment, origin, client, path: `${pathname.replace(/\/+$/, '')}/3/device/` }
    })
  type Target = (typeof targets)[number]
  /** Tokens of unknown environment that the sandbox accepted. The sandbox is tried first for them. */
  const inSandbox = new Set<string>()

  function post(
    { client, path }: Target,
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
    target: Target,
    notification: Notification,
    push: Push,
    context: SendContext,
  ): Promise<Judgement> {
    for (let retried = false; ; retried = true) {
      const got = tokens.get(clock.now())
      const token = typeof got === 'string' ? got : await got
      const exchanged = await post(target, push.device.token.toLowerCase(), token, notification, context)
      if ('lost' in exchanged) return { answer: lostInEnvironment(exchanged, context) }
      const { status, headers } = exchanged
      const body = status === 200 ? '' : removeSecrets(exchanged.body.toString(), push.device.token, token)
      const judgement = judgeApns(status, headers, body, clock.now())
      const { answer, code } = judgement
      if (answer.category === 'successful') return { answer: { ...answer, ref: push.ref } }
      if (code === 'TooManyProviderTokenUpdates') tokens.onTooMany(token, clock.now())
      if (retried || code !== 'ExpiredProviderToken' || !tokens.onExpired(token, clock.now())) return judgement
    }
  }

  /** Sends to a device of unknown environment. */
  async function tryEach(notification: Notification, push: Push, context: SendContext): Promise<DeviceAnswer> {
    const { token } = push.device
    let last: DeviceAnswer = notConfigured
    for (const target of inSandbox.has(token) ? targets.toReversed() : targets) {
      const { answer, code } = await attempt(target, notification, push, context)
      last = answer
      if (code === 'BadDeviceToken') continue
      if (target.environment === 'sandbox' && answer.category === 'successful') rememberSandbox(token)
      return answer
    }
    return last
  }

  function rememberSandbox(token: string): void {
    if (inSandbox.size >= mostRemembered) inSandbox.clear()
    inSandbox.add(token)
  }

  /** Sends to a token that cannot exist. */
  async function checkTarget(target: Target): Promise<readonly Check[]> {
    const context = { deadline: clock.now() + 10_000, signal: new AbortController().signal }
    const notification = {
      headers: ['apns-topic', topic, 'apns-push-type', 'alert'],
      body: '{"aps":{"alert":"check"}}',
    }
    const exchanged = await post(target, '0'.repeat(64), await tokens.get(clock.now()), notification, context)
    if ('lost' in exchanged) {
      const description = lostPush('apns', exchanged, context).error
      return [
        fails(
          `${target.environment}: ${description}`,
          `check the network, and firewalls between this machine and ${target.origin}`,
        ),
      ]
    }
    const { answer, remedy } = judgeApns(exchanged.status, exchanged.headers, exchanged.body.toString(), clock.now())
    const clockReport = clockCheck('APNs', exchanged.headers.date, clock.now())
    // APNs checks key, team and topic before it refuses the token.
    const ok = answer.category === 'successful' || answer.token !== undefined
    const description = ok
      ? `APNs (${target.environment}) accepts key ${options.keyId} for ${topic}`
      : `${target.environment}: ${(answer as Fatal).error}`
    return [
      ok ? { ok, description } : { ok, description, remedy: remedy ?? 'try again later' },
      ...(clockReport ? [clockReport] : []),
    ]
  }

  return {
    name,
    concurrency: targets.length * concurrency,
    perCounterpart: concurrency,
    perSecond: options.perSecond,
    counterpartOf: ({ environment = 'any', app = topic }) => `${environment} ${app}`,
    reaches: ({ kind, app, environment }) =>
      kind === 'apns' &&
      (app === undefined || app === topic || apps.includes(app)) &&
      (environment === undefined || environments.includes(environment)),
    async send(push, context) {
      if (push.expiresAt <= clock.now()) return expired('apns')
      if (!apnsTokenForm.test(push.device.token)) return malformedToken
      const notification = apnsNotification(push, topic)
      if ('category' in notification) return notification
      const { environment } = push.device
      if (environment === undefined) return tryEach(notification, push, context)
      const target = targets.find((each) => each.environment === environment)
      return target ? (await attempt(target, notification, push, context)).answer : notConfigured
    },
    async check() {
      return (await Promise.all(targets.map(checkTarget))).flat()
    },
    async close() {
      await Promise.all(targets.map(({ client }) => client.close()))
    },
  }
}

/** Each environment is a server of its own. */
function lostInEnvironment(exchanged: Lost, context: SendContext): DeviceAnswer {
  const answer = lostPush('apns', exchanged, context)
  return answer.category === 'fatal' ? { ...answer, concerns: 'counterpart' } : answer
}

/** Only developers' own devices are in the sandbox, so this is plenty. */
const mostRemembered = 10_000

/** Apple asks not to index these headers, because its HPACK table is small. */
const unindexed = ['apns-id', 'apns-expiration', 'apns-collapse-id']

/** A malformed token says nothing about the credential. The link stays: the app can link the device again in the right form. */
const malformedToken: Failed = {
  category: 'failed',
  reason: 'rejected',
  rule: 'apns not sent: token',
  error: 'apns: the device token must be letters and digits (400 at most); link the hexadecimal token of the app',
}

const notConfigured: Fatal = {
  category: 'fatal',
  reason: 'misconfigured',
  blame: 'provider',
  rule: 'apns not sent: environment',
  error: "apns: the device's environment is not configured here; add it to environments",
}
