import { makeVapidKeys } from '../../subjects/providers/web-push/vapid.ts'
import { type StandIns, startStandIns } from '../stand-ins/all.ts'
import { brands } from './cast.ts'

export interface PushServices {
  /** Stand-ins of the push services of Google, Apple and a browser vendor. */
  readonly standIns: StandIns
  /** The setting operator.push.devices.services. In production, it has no `testing`. */
  readonly services: readonly object[]
}

/** Starts the stand-ins, and configures the operator's push services with their credentials. */
export async function startPushServices(): Promise<PushServices> {
  const { publicKey, privateKey } = makeVapidKeys()
  const standIns = await startStandIns({ tls: false, vapidPublicKey: publicKey })
  const { fcm: google, apns: apple, 'web-push': browsers } = standIns
  const [topic = '', ...apps] = brands.map(({ id }) => appOf(id))
  const { key, keyId, teamId } = apple.credentials
  return {
    standIns,
    services: [
      {
        provider: 'fcm',
        credentials_json: JSON.stringify(google.credentials),
        testing: { base_url: google.url },
      },
      {
        provider: 'apns',
        key_text: key,
        key_id: keyId,
        team_id: teamId,
        topic,
        apps,
        testing: { base_url: apple.url, sandbox_url: apple.sandboxUrl },
      },
      {
        provider: 'web-push',
        public_key: publicKey,
        private_key: privateKey,
        subject: 'mailto:demo@example.com',
        testing: { origins: [{ from: browsers.url, to: browsers.url }] },
      },
    ],
  }
}

/** The app of a brand on its users' phones. */
export function appOf(brand: string): string {
  return `com.example.brand${brand}`
}
