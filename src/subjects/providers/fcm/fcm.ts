// Firebase Cloud Messaging, HTTP v1.

import type { Exchanged } from '../../../base/http-client/exchange.ts'
import { createHttp2Client } from '../../../base/http2/client.ts'
import { type Check, fails, passes } from '../../../base/runtime/check.ts'
import { clock } from '../../../base/runtime/clock.ts'
import { unlessLate } from '../../../base/runtime/within.ts'
import type { Fatal } from '../../../contract/outcome.ts'
import { clockCheck } from '../clock-check.ts'
import type { SendContext } from '../provider.ts'
import { expired, lostPush, removeSecrets } from '../push-outcomes.ts'
import type { PushService } from '../push-service.ts'
import { createAccessTokens } from './access-token.ts'
import { judgeFcm } from './answer.ts'
import { fcmMessage } from './message.ts'
import { readServiceAccount, type ServiceAccount } from './service-account.ts'

export interface FcmOptions {
  /** Name of the credential in the configuration. Default: fcm. */
  readonly name?: string
  /** The JSON file of the service account from the Firebase console: its text, or the parsed JSON. */
  readonly serviceAccount: ServiceAccount | string
  /** Default: https://fcm.googleapis.com. An http:// URL uses HTTP/2 without TLS. */
  readonly baseUrl?: string
  /** Certificates to trust instead of the system's, as PEM, for FCM and the token endpoint. */
  readonly ca?: string
  /** Apps whose devices are reached. Default: all. Devices of an unknown app are always reached. */
  readonly apps?: readonly string[]
  /** Maximum number of sends in flight. Default: 1,000. */
  readonly concurrency?: number
  /** Maximum number of sends in a second, in each process. Default: no limit. */
  readonly perSecond?: number | undefined
  /** Maximum number of connections. FCM limits the sends in flight on each, to about 100. Default: one for each 100 of `concurrency`. */
  readonly connections?: number
  /** An HTTP proxy for all connections: http://user:password@proxy:3128. Default: direct connections. */
  readonly proxy?: string | undefined
}

/**
 * Sends to registration tokens (`fcm_token`) and Firebase installation ids (`fcm_fid`) with a service account.
 *
 * @example
 * const service = fcm({ serviceAccount: await readFile('service-account.json', 'utf8') })
 * await service.send({ ref, device, content: { title: 'Hello' }, expiresAt }, { deadline, signal })
 * // { category: 'successful', ref, rule: 'fcm 200', providerId: 'projects/p/messages/…' }
 */
export function fcm(options: FcmOptions): PushService {
  const { name = 'fcm', ca, apps, concurrency = 1_000, proxy } = options
  const { connections = Math.ceil(concurrency / 100) } = options
  const serviceAccount = accountOf(name, options.serviceAccount)
  const { origin, pathname } = new URL(options.baseUrl ?? 'https://fcm.googleapis.com')
  const project = encodeURIComponent(serviceAccount.project_id)
  const path = `${pathname.replace(/\/+$/, '')}/v1/projects/${project}/messages:send`
  const tokens = createAccessTokens(serviceAccount, { ca, proxy })
  const client = createHttp2Client({ origin, connections, proxy, ...(ca !== undefined && { ca }) })

  /** Returns the access token: a promise the first time and every hour, when it is fetched. Fatal: no token could be fetched. */
  function accessToken(context: SendContext): string | Promise<string | Fatal> {
    const token = tokens.get()
    if (typeof token === 'string') return token
    return unlessLate(context.deadline - clock.now(), token, context.signal).then((got) => got ?? noToken(context))
  }

  function post(body: string, token: string, context: SendContext): Promise<Exchanged> {
    const headers = ['authorization', `Bearer ${token}`, 'content-type', 'application/json']
    const { deadline, signal } = context
    return client.post({ path, headers, body, deadline, signal })
  }

  /** Sends to a token that cannot exist. */
  async function checkSend(): Promise<readonly Check[]> {
    const body = JSON.stringify({ validate_only: true, message: { token: 'bellwire-doctor' } })
    const context = { deadline: clock.now() + 10_000, signal: new AbortController().signal }
    const token = await accessToken(context)
    if (typeof token !== 'string') return [fails(token.error, 'fix the access token first: see its check')]
    const exchanged = await post(body, token, context)
    if ('lost' in exchanged) {
      const description = lostPush('fcm', exchanged, context).error
      return [fails(description, `check base_url, the network, and firewalls between this machine and ${origin}`)]
    }
    const clockReport = clockCheck('FCM', exchanged.headers.date, clock.now())
    const { answer, remedy } = judgeFcm(exchanged.status, exchanged.headers, exchanged.body.toString(), clock.now())
    // FCM checks everything else before it refuses the token.
    const ok = answer.category === 'successful' || answer.token !== undefined
    const description = ok ? `FCM accepts sends for project ${serviceAccount.project_id}` : (answer as Fatal).error
    return [
      ok ? { ok, description } : { ok, description, remedy: remedy ?? 'try again later' },
      ...(clockReport && !clockReport.ok ? [clockReport] : []),
    ]
  }

  return {
    name,
    concurrency,
    perSecond: options.perSecond,
    // A token of another project is refused. The apps of a platform may be in several projects by mistake.
    counterpartOf: ({ app }) => app ?? '',
    reaches: ({ kind, app }) =>
      (kind === 'fcm_token' || kind === 'fcm_fid') && (apps === undefined || app === undefined || apps.includes(app)),
    async send(push, context) {
      const now = clock.now()
      if (push.expiresAt <= now) return expired('fcm')
      const message = fcmMessage(push, now)
      if ('category' in message) return message
      for (let retried = false; ; retried = true) {
        const got = accessToken(context)
        const token = typeof got === 'string' ? got : await got
        if (typeof token !== 'string') return token
        const exchanged = await post(message.body, token, context)
        if ('lost' in exchanged) return lostPush('fcm', exchanged, context)
        const { status, headers, body } = exchanged
        const text = status === 200 ? body.toString() : removeSecrets(body.toString(), push.device.token, token)
        const { answer, code } = judgeFcm(status, headers, text, clock.now())
        if (answer.category === 'successful') return { ...answer, ref: push.ref }
        // The token may be revoked or expired: the send is retried once with a new one.
        if (retried || status !== 401 || code !== 'UNAUTHENTICATED') return answer
        tokens.drop(token)
      }
    },
    async check() {
      const { refused, date } = await tokens.check()
      const clockReport = clockCheck('Google', date, clock.now())
      const account = `${serviceAccount.client_email} of project ${serviceAccount.project_id}`
      if (refused) {
        const remedy = refused.reason === 'misconfigured' ? 'download a new key, or set the clock' : 'check the network'
        return [fails(refused.error, remedy), ...(clockReport ? [clockReport] : [])]
      }
      return [
        passes(`Google issues an access token for ${account}`),
        ...(clockReport ? [clockReport] : []),
        ...(await checkSend()),
      ]
    },
    async close() {
      await Promise.all([client.close(), tokens.close()])
    },
  }
}

/** Reads the service account. An error is thrown at once and names the option, instead of making the first push fatal. */
function accountOf(name: string, given: FcmOptions['serviceAccount']): ServiceAccount {
  try {
    return readServiceAccount(given)
  } catch (error) {
    throw new Error(`${name}: serviceAccount: ${(error as Error).message}`)
  }
}

function noToken({ deadline }: SendContext): Fatal {
  const late = clock.now() >= deadline
  return {
    category: 'fatal',
    reason: late ? 'timeout' : 'stopping',
    blame: 'provider',
    rule: 'fcm token not reached',
    error: 'fcm: the token endpoint did not answer in time',
  }
}
