import type { Judge } from '../../subjects/devices/device-event.ts'
import { apns } from '../../subjects/providers/apns/apns.ts'
import { fcm } from '../../subjects/providers/fcm/fcm.ts'
import type { PushService } from '../../subjects/providers/push-service.ts'
import { judgeEndpoint } from '../../subjects/providers/web-push/judge-endpoint.ts'
import { makeVapidKeys } from '../../subjects/providers/web-push/vapid.ts'
import { webPush } from '../../subjects/providers/web-push/web-push.ts'
import { type StandIns, startStandIns } from '../stand-ins/all.ts'
import { brands } from './cast.ts'

export interface PushServices {
  /** Stand-ins of the push services of Google, Apple and a browser vendor. */
  readonly standIns: StandIns
  /** The operator's push services. In production, their options have no URLs. */
  readonly services: readonly PushService[]
  readonly judgeDevice: Judge
}

/** Starts the stand-ins, and configures the operator's push services with their credentials. */
export async function startPushServices(): Promise<PushServices> {
  const vapid = makeVapidKeys()
  const standIns = await startStandIns({ tls: false, vapidPublicKey: vapid.publicKey })
  const { fcm: google, apns: apple, 'web-push': browsers } = standIns
  const [topic = '', ...apps] = brands.map(({ id }) => appOf(id))
  const origins = { [browsers.url]: browsers.url }
  return {
    standIns,
    services: [
      fcm({ serviceAccount: google.credentials, baseUrl: google.url }),
      apns({ ...apple.credentials, topic, apps, baseUrl: apple.url, sandboxUrl: apple.sandboxUrl }),
      webPush({ ...vapid, subject: 'mailto:demo@example.com', origins }),
    ],
    judgeDevice: ({ kind, token }) => (kind === 'webpush' ? judgeEndpoint(token, { origins }) : undefined),
  }
}

/** The app of a brand on its users' phones. */
export function appOf(brand: string): string {
  return `com.example.brand${brand}`
}
