// The pushes of the push benchmarks and their target: all contenders send the same bytes to the same sink.

import { createHash } from 'node:crypto'
import { uuidv7 } from '../../src/base/runtime/ids.ts'
import { readPushContent } from '../../src/contract/content.ts'
import type { DeviceKind } from '../../src/subjects/devices/device.ts'
import { apns } from '../../src/subjects/providers/apns/apns.ts'
import { fcm } from '../../src/subjects/providers/fcm/fcm.ts'
import type { ServiceAccount } from '../../src/subjects/providers/fcm/service-account.ts'
import type { Push, PushService } from '../../src/subjects/providers/push-service.ts'
import type { VapidKeys } from '../../src/subjects/providers/web-push/vapid.ts'
import { webPush } from '../../src/subjects/providers/web-push/web-push.ts'
import type { ApnsCredentials } from '../../src/tools/stand-ins/apns-keys.ts'
import { activityRecord } from './requests.ts'

/** A push service that accepts everything: see servers/push-sink.ts. */
export type PushTarget = { readonly url: string } & (
  | { readonly kind: 'fcm'; readonly ca: string; readonly credentials: ServiceAccount }
  | { readonly kind: 'apns'; readonly ca: string; readonly credentials: ApnsCredentials }
  | { readonly kind: 'web-push'; readonly credentials: VapidKeys; readonly p256dh: string }
)
export type PushKind = PushTarget['kind']

export const apnsTopic = 'com.example.app'
/** The origin of the push service in the browsers' subscriptions. The sink replaces that service. */
export const webPushOrigin = 'https://push.example.com'

const deviceKinds: Record<PushKind, DeviceKind> = { fcm: 'fcm_token', apns: 'apns', 'web-push': 'webpush' }

/** Our push service, as an operator configures it. */
export function serviceFor(target: PushTarget, connections?: number): PushService {
  const bounds = connections === undefined ? {} : { connections }
  if (target.kind === 'fcm')
    return fcm({ serviceAccount: target.credentials, baseUrl: target.url, ca: target.ca, ...bounds })
  if (target.kind === 'apns')
    return apns({ ...target.credentials, topic: apnsTopic, baseUrl: target.url, ca: target.ca, ...bounds })
  return webPush({
    ...target.credentials,
    subject: 'mailto:ops@example.com',
    hosts: [new URL(webPushOrigin).host],
    origins: { [webPushOrigin]: target.url },
  })
}

/** The tokens of this number of devices, the same in every process, as long as real tokens. */
export function tokensOf(target: PushTarget, count: number): readonly string[] {
  return Array.from({ length: count }, (_, n) => {
    const random = createHash('shake256', { outputLength: 112 }).update(String(n)).digest()
    if (target.kind === 'apns') return random.toString('hex', 0, 32)
    const text = random.toString('base64url')
    if (target.kind === 'fcm') return `${text.slice(0, 22)}:APA91b${text.slice(22)}`
    const keys = { p256dh: target.p256dh, auth: text.slice(0, 22) }
    return JSON.stringify({ endpoint: `${webPushOrigin}/${text.slice(22)}`, keys })
  })
}

export function deviceOf({ kind }: PushTarget, token: string): Push['device'] {
  return {
    brand: '1',
    userId: '1001',
    kind: deviceKinds[kind],
    token,
    linkedAt: '2026-01-01T00:00:00Z',
    ...(kind === 'apns' && { environment: 'production' as const }),
  }
}

/** A push with a message of 400 bytes, as in the batches of the other benchmarks. */
export function makePush(target: PushTarget, token: string): Push {
  return {
    ref: uuidv7(),
    device: deviceOf(target, token),
    content,
    expiresAt: Date.now() + 86_400_000,
  }
}

const read = readPushContent(activityRecord('1', 1, 400))
if ('error' in read) throw new Error(read.error)
const content = read
