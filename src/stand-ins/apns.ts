// A stand-in of the Apple Push Notification service, both of its environments: authentication, checks, answers and delivery as
// the real one has them. It keeps ONE notification for a device that is away, as Apple does: the newest.

import { randomBytes, randomUUID } from 'node:crypto'
import { type ApnsCredentials, createApnsKeys, type Environment, type KeyScope } from './apns-keys.ts'
import { type ApnsNote, apnsStatus, readApnsRequest } from './apns-request.ts'
import { createArrivals } from './arrivals.ts'
import { makeCertificate } from './certificate.ts'
import { createFaults } from './faults.ts'
import { allTexts, onlyTexts } from './fields.ts'
import { type Answer, listenHttp2, type Request } from './http2-server.ts'
import { beside } from './listen.ts'
import { createShelf, type Note } from './shelf.ts'
import type { StandIn } from './stand-in.ts'

export interface ApnsStandInOptions {
  readonly host?: string
  /** 0, the default: free ones. */
  readonly port?: number
  readonly sandboxPort?: number
  /** false: HTTP/2 without TLS. */
  readonly tls?: boolean
  readonly teamId?: string
  /** The bundle ids of the team's apps; the first is that of a device for which none is named. */
  readonly topics?: readonly string[]
  /** Epoch milliseconds, where a test must not wait. */
  readonly clock?: () => number
  /** Requests at a time on one connection. */
  readonly streams?: number
}

export interface ApnsDevice {
  readonly app?: string
  readonly environment?: Environment
  readonly online?: boolean
}

export interface ApnsStandIn extends StandIn {
  /** The address of the sandbox; `url` is that of production. */
  readonly sandboxUrl: string
  /** What the real service is to be configured with: a key that may send to all topics in both environments. */
  readonly credentials: ApnsCredentials
  /** The topic of a device for which none is named. */
  readonly topic: string
  /** Another key of the team. */
  key(scope?: KeyScope): ApnsCredentials
  /** @returns the token of a new device */
  device(device?: ApnsDevice): string
}

interface Kind {
  readonly app: string
  readonly environment: Environment
}

const longestKeptMs = 30 * 86_400_000

/**
 * @example
 * const standIn = await apnsStandIn()
 * const service = apns({ ...standIn.credentials, topic: standIn.topic, baseUrl: standIn.url, ca: standIn.ca })
 * const token = standIn.device()
 */
export async function apnsStandIn(options: ApnsStandInOptions = {}): Promise<ApnsStandIn> {
  const { host = '127.0.0.1', port = 0, sandboxPort = 0, tls = true, teamId = 'STANDINTM1', clock = Date.now } = options
  const topics = options.topics ?? ['com.example.app']
  const topic = topics[0] as string
  const certificate = tls ? makeCertificate(host) : undefined
  const keys = createApnsKeys(teamId, clock)
  const credentials = keys.make()
  const faults = createFaults()
  const arrivals = createArrivals()
  const { add, find, deliver, ...devices } = createShelf<Kind>({ clock, keep: (_kept, note) => [note] })
  const known = new Set(topics)

  async function serve({ method, path, headers, body }: Request, environment: Environment): Promise<Answer> {
    const id = (headers['apns-id'] ?? randomUUID()).toLowerCase()
    const refuse = (reason: string, timestamp?: number): Answer => refusal(reason, id, timestamp)
    if (method !== 'POST') return refuse('MethodNotAllowed')
    const token = /^\/3\/device\/([^/]*)$/.exec(path)?.[1]
    if (token === undefined) return refuse('BadPath')
    const judged = await keys.judge(headers.authorization, environment)
    if ('reason' in judged) return refuse(judged.reason)
    if (token === '') return refuse('MissingDeviceToken')
    const note = readApnsRequest(headers, body, { topics: known, ...(judged.topics && { allowed: judged.topics }) })
    if ('reason' in note) return refuse(note.reason)
    const device = find(token)
    if (!device || device.kind.environment !== environment) return refuse('BadDeviceToken')
    if (device.kind.app !== note.topic) return refuse('DeviceTokenNotForTopic')
    if (device.goneSince !== undefined) return refuse('Unregistered', device.goneSince)
    const shown = noteOf(note, clock())
    if (shown) deliver(token, shown)
    const unique = environment === 'sandbox' ? { 'apns-unique-id': randomUUID() } : {}
    return { status: 200, headers: { 'apns-id': id, ...unique }, accepted: true }
  }

  const open = (environment: Environment, at: number) =>
    listenHttp2({
      host,
      port: at,
      certificate,
      streams: options.streams ?? 1_000,
      faults,
      farewell: '{"reason":"Shutdown"}',
      tokenOf: ({ path }) => /^\/3\/device\/([^/]*)$/.exec(path)?.[1] ?? '',
      serve: (request) => serve(request, environment),
      arrived: arrivals.add,
    })
  const production = await open('production', port)
  const sandbox = await beside(production, open('sandbox', sandboxPort))

  return {
    url: production.url,
    sandboxUrl: sandbox.url,
    ...(certificate && { ca: certificate.cert }),
    credentials,
    topic,
    key: keys.make,
    device({ app = topic, environment = 'production', online = true } = {}) {
      const token = randomBytes(32).toString('hex')
      known.add(app)
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

/** Undefined: nothing that a device shows. */
function noteOf({ aps, custom, collapseId, expiration }: ApnsNote, now: number): Note | undefined {
  const alert = typeof aps.alert === 'string' ? { body: aps.alert } : (aps.alert as Record<string, unknown> | undefined)
  if (!alert) return undefined
  const data = allTexts(custom)
  return {
    ...onlyTexts({ title: alert.title, body: alert.body, image: data.image, url: data.url, tag: collapseId }),
    data,
    // 0: tried once, never kept.
    expiresAt: expiration === undefined ? now + longestKeptMs : expiration * 1000,
  }
}

/** A refusal as Apple writes it. */
function refusal(reason: string, id: string, timestamp?: number): Answer {
  const body = JSON.stringify({ reason, ...(timestamp !== undefined && { timestamp }) })
  const headers = { 'apns-id': id, 'content-type': 'application/json' }
  return { status: apnsStatus[reason] ?? 400, headers, body, accepted: false }
}
