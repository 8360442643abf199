// The three stand-ins together, with their devices.

import { present } from '../../base/runtime/present.ts'
import type { DeviceTokenRecord } from '../../contract/device-events.ts'
import { type ApnsDevice, type ApnsStandIn, apnsStandIn } from './apns.ts'
import { type FcmDevice, type FcmStandIn, fcmStandIn } from './fcm.ts'
import type { StandIn } from './stand-in.ts'
import { startWebPushStandIn, type WebPushStandIn } from './web-push.ts'

export const serviceNames = ['fcm', 'apns', 'web-push'] as const
export type ServiceName = (typeof serviceNames)[number]

/** A device of a stand-in, with the data that its app would link. */
export interface MadeDevice {
  /** Number of the device, from 1: a short name for people and the control API. */
  readonly id: number
  readonly service: ServiceName
  readonly kind: 'fcm_token' | 'fcm_fid' | 'apns' | 'webpush'
  readonly token: string
  readonly app?: string
  readonly environment?: 'production' | 'sandbox'
  /** Display name. */
  readonly name?: string
  /** The record that links the device: an element of `tokens` (§4.2, row 18). */
  readonly link: DeviceTokenRecord
}

export interface DeviceRequest {
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
  addDevice(request: DeviceRequest): MadeDevice
  close(): Promise<void>
}

export interface StandInsOptions {
  readonly ports?: Readonly<Partial<Record<'fcm' | 'fcmTokens' | 'apns' | 'apnsSandbox' | 'webPush', number>>>
  /** VAPID public key of the server that may send to the browsers. */
  readonly vapidPublicKey?: string
  /** false: FCM and APNs without TLS. They start faster, and there is no certificate to trust. */
  readonly tls?: boolean
}

/** @example const standIns = await startStandIns(); standIns.addDevice({ service: 'fcm' }).token */
export async function startStandIns({
  ports = {},
  vapidPublicKey,
  tls = true,
}: StandInsOptions = {}): Promise<StandIns> {
  const started: StandIn[] = []
  const start = async <S extends StandIn>(starting: Promise<S>): Promise<S> => {
    const standIn = await starting
    started.push(standIn)
    return standIn
  }
  const close = async (): Promise<void> => void (await Promise.all(started.map((standIn) => standIn.close())))
  try {
    const fcm = await start(fcmStandIn({ tls, port: ports.fcm ?? 0, tokenPort: ports.fcmTokens ?? 0 }))
    const apns = await start(apnsStandIn({ tls, port: ports.apns ?? 0, sandboxPort: ports.apnsSandbox ?? 0 }))
    const webPush = await start(startWebPushStandIn({ port: ports.webPush ?? 0 }))
    const devices: MadeDevice[] = []

    function makeDevice({
      service,
      app,
      environment,
      kind,
      online = true,
    }: DeviceRequest): Omit<MadeDevice, 'id' | 'link'> {
      switch (service) {
        case 'fcm': {
          const options: FcmDevice = { online, ...(kind && { kind }) }
          return { service, kind: kind ?? 'fcm_token', token: fcm.device(options), ...(app !== undefined && { app }) }
        }
        case 'apns': {
          const topic = app ?? apns.topic
          const options: ApnsDevice = { online, app: topic, ...(environment && { environment }) }
          return {
            service,
            kind: 'apns',
            token: apns.device(options),
            app: topic,
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
      addDevice(request) {
        const made = makeDevice(request)
        const { name } = request
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

const linkFields = {
  fcm: { provider: 'firebase', channel: 'android' },
  apns: { provider: 'apns', channel: 'ios' },
  'web-push': { provider: 'webpush', channel: 'web' },
} as const

function linkOf({ service, token, kind, app, environment }: Omit<MadeDevice, 'id' | 'link'>): DeviceTokenRecord {
  return {
    token,
    ...linkFields[service],
    ...(kind === 'fcm_fid' && { kind }),
    ...present({ app, environment }),
  }
}
