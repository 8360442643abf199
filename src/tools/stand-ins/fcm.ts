// A stand-in of Firebase Cloud Messaging, HTTP v1, with the authentication, validation, answers and delivery of the real one.

import { randomBytes, randomUUID } from 'node:crypto'
import { present } from '../../base/runtime/present.ts'
import { createArrivals } from './arrivals.ts'
import { makeCertificate } from './certificate.ts'
import { createDeviceStore, type PushNotification } from './device-store.ts'
import { createFaults } from './faults.ts'
import { type FcmMessage, readFcmRequest, type Violation } from './fcm-message.ts'
import { listenTokenEndpoint, type ServiceAccountJson, type TokenEndpoint } from './fcm-token-endpoint.ts'
import { type Answer, openPushServer, orClose, type Request } from './push-server.ts'
import type { StandIn } from './stand-in.ts'

export interface FcmStandInOptions {
  /** Default: 0, a free port. */
  readonly port?: number
  readonly tokenPort?: number
  /** false: HTTP/2 and the token endpoint without TLS. */
  readonly tls?: boolean
  readonly accessTokenSeconds?: number
  /** The clock in epoch milliseconds, for tests that must not wait. */
  readonly clock?: () => number
}

export interface FcmDevice {
  /** The project with which the device is registered. Default: the stand-in's own project. */
  readonly project?: string
  readonly kind?: 'fcm_token' | 'fcm_fid'
  readonly online?: boolean
}

export interface FcmStandIn extends StandIn {
  /** The credentials to configure for the provider: the JSON of a service account with the token endpoint of this stand-in. */
  readonly credentials: ServiceAccountJson
  readonly tokenEndpoint: Pick<TokenEndpoint, 'uri' | 'requests' | 'account' | 'remove' | 'revoke' | 'play'>
  /** Adds a project with its own service account, which is valid, but not for devices of other projects. */
  project(id: string): ServiceAccountJson
  /** Adds a device. @returns its token or installation id */
  device(device?: FcmDevice): string
}

interface Kind {
  readonly project: string
  readonly kind: 'fcm_token' | 'fcm_fid'
}

const projectId = 'stand-in'
/** Maximum number of messages that FCM stores for an offline device. With one more, it discards all of them. */
const mostKept = 100
const defaultTtlSeconds = 2_419_200

/**
 * @example
 * const standIn = await fcmStandIn()
 * const service = fcm({ serviceAccount: standIn.credentials, baseUrl: standIn.url, ca: standIn.ca })
 * const token = standIn.device()
 */
export async function fcmStandIn(options: FcmStandInOptions = {}): Promise<FcmStandIn> {
  const { port = 0, tokenPort = 0, tls = true, accessTokenSeconds = 3599, clock = Date.now } = options
  const certificate = tls ? makeCertificate() : undefined
  const tokens = await listenTokenEndpoint({
    port: tokenPort,
    certificate,
    clock,
    lifetimeSeconds: accessTokenSeconds,
  })
  const faults = createFaults()
  const arrivals = createArrivals()
  const projects = new Map([[projectId, tokens.account(projectId)]])
  const { add, find, deliver, ...devices } = createDeviceStore<Kind>({
    clock,
    keep: (kept, newest) => (kept.length >= mostKept ? [] : [...kept, newest]),
  })

  function serve({ method, path, headers, body }: Request): Answer {
    const project = /^\/v1\/projects\/([^/]+)\/messages:send$/.exec(path)?.[1]
    if (project === undefined || method !== 'POST') return notFound
    const bearer = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1]
    const sender = bearer === undefined ? undefined : tokens.projectOf(bearer)
    if (sender === undefined) return unauthenticated
    if (!projects.has(project)) return notFound
    if (project !== sender) return denied
    const request = readFcmRequest(body.toString())
    if ('field' in request) return invalidArgument(request)
    const { message, validateOnly } = request
    const target = message.token ?? message.fid
    if (target === undefined) return invalidArgument({ field: 'message', description: 'This stand-in has no topics.' })
    const device = find(target)
    if (!device || (device.kind.kind === 'fcm_fid') !== (message.fid !== undefined)) return unknownTarget(message)
    if (device.goneSince !== undefined) return unregistered
    if (device.kind.project !== sender) return mismatch
    if (validateOnly) return accepted(project, 'fake_message_id', false)
    const notification = notificationOf(message)
    if (notification) deliver(target, notification)
    return accepted(project, randomUUID(), true)
  }

  /** The notification that a device shows by itself. Undefined for a data message. */
  function notificationOf({ notification, data = {}, android = {} }: FcmMessage): PushNotification | undefined {
    if (!notification && !android.notification) return undefined
    const { tag, ...own } = android.notification ?? {}
    const { title, body, image } = { ...notification, ...own }
    const seconds = android.ttl === undefined ? defaultTtlSeconds : Number.parseFloat(android.ttl)
    const url = data.url
    return { ...present({ title, body, image, url }), data, ...present({ tag }), expiresAt: clock() + seconds * 1000 }
  }

  const listening = openPushServer({
    port,
    certificate,
    streams: 100,
    faults,
    tokenOf,
    serve,
    onArrival: arrivals.add,
  })
  const server = await orClose(tokens, listening)

  return {
    url: server.url,
    ...(certificate && { ca: certificate.cert }),
    credentials: projects.get(projectId) as ServiceAccountJson,
    tokenEndpoint: tokens,
    project(id) {
      const made = projects.get(id) ?? tokens.account(id)
      projects.set(id, made)
      return made
    },
    device({ project = projectId, kind = 'fcm_token', online = true } = {}) {
      const token =
        kind === 'fcm_fid'
          ? randomBytes(16).toString('base64url')
          : `${randomBytes(16).toString('base64url')}:APA91b${randomBytes(96).toString('base64url')}`
      add(token, { project, kind }, online)
      return token
    },
    arrivals: arrivals.list,
    ...devices,
    play: faults.play,
    async close() {
      await Promise.all([server.close(), tokens.close()])
    },
  }
}

function tokenOf({ body }: Request): string {
  try {
    const { token, fid } = JSON.parse(body.toString()).message
    return String(token ?? fid ?? '')
  } catch {
    return ''
  }
}

const json = { 'content-type': 'application/json; charset=UTF-8' }

function accepted(project: string, id: string, accepted: boolean): Answer {
  return { status: 200, headers: json, body: `{"name":"projects/${project}/messages/${id}"}`, accepted }
}

/** An error in Google's format. */
export function fcmError(status: number, name: string, message: string, details: readonly object[] = []): Answer {
  const error = { code: status, message, status: name, ...(details.length > 0 && { details }) }
  return { status, headers: json, body: JSON.stringify({ error }), accepted: false }
}

export const fcmDetail = (errorCode: string): object => ({
  '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError',
  errorCode,
})
export const badRequest = ({ field, description }: Violation): object => ({
  '@type': 'type.googleapis.com/google.rpc.BadRequest',
  fieldViolations: [{ field, description }],
})

const notFound = fcmError(404, 'NOT_FOUND', 'Requested entity was not found.')
const unauthenticated = fcmError(
  401,
  'UNAUTHENTICATED',
  'Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.',
)
const denied = fcmError(
  403,
  'PERMISSION_DENIED',
  "Permission 'cloudmessaging.messages.create' denied on resource (or it may not exist).",
)
const unregistered = fcmError(404, 'NOT_FOUND', 'Requested entity was not found.', [fcmDetail('UNREGISTERED')])
const mismatch = fcmError(403, 'PERMISSION_DENIED', 'SenderId mismatch', [fcmDetail('SENDER_ID_MISMATCH')])

function invalidArgument(violation: Violation): Answer {
  return fcmError(400, 'INVALID_ARGUMENT', violation.description, [
    fcmDetail('INVALID_ARGUMENT'),
    badRequest(violation),
  ])
}

function unknownTarget({ fid }: FcmMessage): Answer {
  const description = `The registration token is not a valid FCM registration token`
  return invalidArgument({ field: fid === undefined ? 'message.token' : 'message.fid', description })
}
