// A stand-in of both environments of the Apple Push Notification service, with the authentication, validation, answers and
// delivery of the real one. Like Apple, it stores only the newest notification for an offline device.

import { randomBytes, randomUUID } from 'node:crypto'
import { type ApnsCredentials, createApnsKeys, type Environment, type KeyScope } from './apns-keys.ts'
import { type ApnsRequest, apnsStatus, readApnsRequest } from './apns-request.ts'
import { createArrivals } from './arrivals.ts'
import { makeCertificate } from './certificate.ts'
import { createDeviceStore, type PushNotification } from './device-store.ts'
import { createFaults } from './faults.ts'
import { allTexts, onlyTexts } from './fields.ts'
import { type Answer, openPushServer, orClose, type Request } from './push-server.ts'
import type { StandIn } from './stand-in.ts'

export interface ApnsStandInOptions {
  /** Default: 0, a free port. */
  readonly port?: number
  readonly sandboxPort?: number
  /** false: HTTP/2 without TLS. */
  readonly tls?: boolean
  /** The bundle ids of the team's apps. The first is the default app of a device. */
  readonly topics?: readonly string[]
  /** The clock in epoch milliseconds, for tests that must not wait. */
  readonly clock?: () => number
}

export interface ApnsDevice {
  readonly app?: string
  readonly environment?: Environment
  readonly online?: boolean
}

export interface ApnsStandIn extends StandIn {
  /** The URL of the sandbox; `url` is that of production. */
  readonly sandboxUrl: string
  /** The credentials to configure for the provider: a key for all topics and both environments. */
  readonly credentials: ApnsCredentials
  /** The default topic of a device. */
  readonly topic: string
  /** Makes another key of the team. */
  key(scope?: KeyScope): ApnsCredentials
  /** Revokes a key of the team: its tokens are refused from now on. */
  revoke(key: Pick<ApnsCredentials, 'keyId'>): void
  /** Adds a device. @returns its token */
  device(device?: ApnsDevice): string
}

interface Kind {
  readonly app: string
  readonly environment: Environment
}

const storedForMs = 30 * 86_400_000

/**
 * @example
 * const standIn = await apnsStandIn()
 * const service = apns({ ...standIn.credentials, topic: standIn.topic, baseUrl: standIn.url, ca: standIn.ca })
 * const token = standIn.device()
 */
export async function apnsStandIn(options: ApnsStandInOptions = {}): Promise<ApnsStandIn> {
  const { port = 0, sandboxPort = 0, tls = true, topics = ['com.example.app'], clock = Date.now } = options
  const topic = topics[0] as string
  const certificate = tls ? makeCertificate() : undefined
  const keys = createApnsKeys(clock)
  const credentials = keys.makeKey()
  const faults = createFaults()
  const arrivals = createArrivals()
  const { add, find, deliver, ...devices } = createDeviceStore<Kind>({ clock, keep: (_kept, newest) => [newest] })
  const knownTopics = new Set(topics)

  async function serve({ method, path, headers, body }: Request, environment: Environment): Promise<Answer> {
    const id = (headers['apns-id'] ?? randomUUID()).toLowerCase()
    const refuse = (reason: string, timestamp?: number): Answer => refusal(reason, id, timestamp)
    if (method !== 'POST') return refuse('MethodNotAllowed')
    const token = tokenIn(path)
    if (token === undefined) return refuse('BadPath')
    const scope = await keys.checkToken(headers.authorization, environment)
    if ('reason' in scope) return refuse(scope.reason)
    if (token === '') return refuse('MissingDeviceToken')
    const rules = { topics: knownTopics, ...(scope.topics && { allowed: scope.topics }) }
    const request = readApnsRequest(headers, body.toString(), rules)
    if ('reason' in request) return refuse(request.reason)
    const device = find(token)
    if (!device || device.kind.environment !== environment) return refuse('BadDeviceToken')
    if (device.kind.app !== request.app) return refuse('DeviceTokenNotForTopic')
    if (device.goneSince !== undefined) return refuse('Unregistered', device.goneSince)
    const notification = notificationOf(request, clock())
    if (notification) deliver(token, notification)
    const unique = environment === 'sandbox' ? { 'apns-unique-id': randomUUID() } : {}
    return { status: 200, headers: { 'apns-id': id, ...unique }, accepted: true }
  }

  const listenAt = (environment: Environment, port: number) =>
    openPushServer({
      port,
      certificate,
      streams: 1_000,
      faults,
      goawayData: '{"reason":"Shutdown"}',
      tokenOf: ({ path }) => tokenIn(path) ?? '',
      serve: (request) => serve(request, environment),
      onArrival: arrivals.add,
    })
  const production = await listenAt('production', port)
  const sandbox = await orClose(production, listenAt('sandbox', sandboxPort))

  return {
    url: production.url,
    sandboxUrl: sandbox.url,
    ...(certificate && { ca: certificate.cert }),
    credentials,
    topic,
    key: keys.makeKey,
    revoke: keys.revokeKey,
    device({ app = topic, environment = 'production', online = true } = {}) {
      const token = randomBytes(32).toString('hex')
      knownTopics.add(app)
      add(token, { app, environment }, online)
      return token
    },
    arrivals: arrivals.list,
    ...devices,
    play: faults.play,
    async close() {
      await Promise.all([production.close(), sandbox.close()])
    },
  }
}

/** The token in lower case: Apple ignores the case. */
const tokenIn = (path: string): string | undefined => /^\/3\/device\/([^/]*)$/.exec(path)?.[1]?.toLowerCase()

/** The notification that a device shows. Undefined without an alert. */
function notificationOf(
  { aps, custom, collapseId, expiration }: ApnsRequest,
  now: number,
): PushNotification | undefined {
  const alert = typeof aps.alert === 'string' ? { body: aps.alert } : (aps.alert as Record<string, unknown> | undefined)
  if (!alert) return undefined
  const data = allTexts(custom)
  return {
    ...onlyTexts({ title: alert.title, body: alert.body, image: data.image, url: data.url, tag: collapseId }),
    data,
    // 0: one delivery attempt, and the notification is not stored.
    expiresAt: expiration === undefined ? now + storedForMs : expiration * 1000,
  }
}

/** A refusal in Apple's format. */
function refusal(reason: string, id: string, timestamp?: number): Answer {
  const body = JSON.stringify({ reason, ...(timestamp !== undefined && { timestamp }) })
  const headers = { 'apns-id': id, 'content-type': 'application/json' }
  return { status: apnsStatus[reason] ?? 400, headers, body, accepted: false }
}
