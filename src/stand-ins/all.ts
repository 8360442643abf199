// The three stand-ins side by side, with the devices that were made at them.

import type { DeviceTokenRecord } from '../contract/device-events.ts'
import { type ApnsDevice, type ApnsStandIn, apnsStandIn } from './apns.ts'
import { type FcmDevice, type FcmStandIn, fcmStandIn } from './fcm.ts'
import type { StandIn } from './stand-in.ts'
import { startWebPushStandIn, type WebPushStandIn } from './web-push.ts'

export const serviceNames = ['fcm', 'apns', 'web-push'] as const
export type ServiceName = (typeof serviceNames)[number]

export interface Ports {
  readonly fcm?: number
  readonly fcmTokens?: number
  readonly apns?: number
  readonly apnsSandbox?: number
  readonly webPush?: number
}

/** A device as its app would link it. */
export interface MadeDevice {
  /** Counts from 1: shorter than a token, for people and for the control API. */
  readonly id: number
  readonly service: ServiceName
  readonly kind: 'fcm_token' | 'fcm_fid' | 'apns' | 'webpush'
  readonly token: string
  readonly app?: string
  readonly environment?: 'production' | 'sandbox'
  /** A name for people. */
  readonly name?: string
  /** What links it: an element of `tokens` (§4.2, row 18). */
  readonly link: DeviceTokenRecord
}

export interface DeviceWish {
  readonly service: ServiceName
  readonly name?: string
  readonly app?: string
  readonly environment?: 'production' | 'sandbox'
  readonly kind?: 'fcm_token' | 'fcm_fid'
  readonly online?: boolean
}

export interface StandIns {
  readonly fcm: FcmStandIn
  readonly apns: ApnsStandIn
  readonly 'web-push': WebPushStandIn
  readonly devices: readonly MadeDevice[]
  addDevice(wish: DeviceWish): MadeDevice
  close(): Promise<void>
}

export interface StandInsOptions {
  readonly host?: string
  readonly ports?: Ports
  /** Who may send to the browsers: a VAPID public key. */
  readonly vapidPublicKey?: string
  /** false: FCM and APNs without TLS, which starts sooner and leaves no certificate to trust. */
  readonly tls?: boolean
}

/** @example const standIns = await startStandIns(); standIns.addDevice({ service: 'fcm' }).token */
export async function startStandIns({
  host = '127.0.0.1',
  ports = {},
  vapidPublicKey,
  tls = true,
}: StandInsOptions = {}): Promise<StandIns> {
  const started: StandIn[] = []
  const begin = async <S extends StandIn>(starting: Promise<S>): Promise<S> => {
    const standIn = await starting
    started.push(standIn)
    return standIn
  }
  const close = async (): Promise<void> => void (await Promise.all(started.map((standIn) => standIn.close())))
  try {
    const fcm = await begin(fcmStandIn({ host, tls, port: ports.fcm ?? 0, tokenPort: ports.fcmTokens ?? 0 }))
    const apns = await begin(apnsStandIn({ host, tls, port: ports.apns ?? 0, sandboxPort: ports.apnsSandbox ?? 0 }))
    const webPush = await begin(startWebPushStandIn({ host, port: ports.webPush ?? 0 }))
    const devices: MadeDevice[] = []

    function make({ service, app, environment, kind, online = true }: DeviceWish): Omit<MadeDevice, 'id' | 'link'> {
      switch (service) {
        case 'fcm': {
          const wish: FcmDevice = { online, ...(kind && { kind }) }
          return { service, kind: kind ?? 'fcm_token', token: fcm.device(wish), ...(app !== undefined && { app }) }
        }
        case 'apns': {
          const named = app ?? apns.topic
          const wish: ApnsDevice = { online, app: named, ...(environment && { environment }) }
          return {
            service,
            kind: 'apns',
            token: apns.device(wish),
            app: named,
            environment: environment ?? 'production',
          }
        }
        case 'web-push': {
          const token = webPush.subscribe(vapidPublicKey === undefined ? {} : { applicationServerKey: vapidPublicKey })
          if (!online) webPush.setOnline(token, false)
          return { service, kind: 'webpush', token, ...(app !== undefined && { app }) }
        }
      }
    }

    return {
      fcm,
      apns,
      'web-push': webPush,
      devices,
      addDevice(wish) {
        const made = make(wish)
        const { name } = wish
        const device = { id: devices.length + 1, ...made, ...(name !== undefined && { name }), link: linkOf(made) }
        devices.push(device)
        return device
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

const linked = {
  fcm: { provider: 'firebase', channel: 'android' },
  apns: { provider: 'apns', channel: 'ios' },
  'web-push': { provider: 'webpush', channel: 'web' },
} as const

function linkOf({ service, token, kind, app, environment }: Omit<MadeDevice, 'id' | 'link'>): DeviceTokenRecord {
  return {
    token,
    ...linked[service],
    ...(kind === 'fcm_fid' && { kind }),
    ...(app !== undefined && { app }),
    ...(environment !== undefined && { environment }),
  }
}
