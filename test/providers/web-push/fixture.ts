import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'
import type { Device } from '../../../src/subjects/devices/device.ts'
import type { PushService } from '../../../src/subjects/providers/push-service.ts'
import { makeVapidKeys, type VapidKeys } from '../../../src/subjects/providers/web-push/vapid.ts'
import { type WebPushOptions, webPush } from '../../../src/subjects/providers/web-push/web-push.ts'
import {
  startWebPushStandIn,
  type WebPushStandIn,
  type WebPushStandInOptions,
} from '../../../src/tools/stand-ins/web-push.ts'
import type { PushStage } from '../../suites/push-service.ts'
import { listenLocally } from '../../support/listen-locally.ts'

export const subject = 'mailto:ops@example.com'

export interface WebPushSetup {
  readonly standIn: WebPushStandIn
  readonly keys: VapidKeys
  readonly service: PushService
  /** Creates a device, by default of user 1001 of brand 1. */
  device(over?: Partial<Device>): Device
}

/** Starts the service with a stand-in of Google's push service. */
export async function startWebPush(
  t: TestContext,
  options: Partial<WebPushOptions> = {},
  standInOptions: WebPushStandInOptions = {},
): Promise<WebPushSetup> {
  const origin = 'https://fcm.googleapis.com'
  const standIn = await startWebPushStandIn({ origin, ...standInOptions })
  const keys = makeVapidKeys()
  const service = webPush({ ...keys, subject, origins: { [origin]: standIn.url }, ...options })
  t.after(async () => {
    await service.close?.()
    await standIn.close()
  })
  return {
    standIn,
    keys,
    service,
    device: (over = {}) => deviceOf(standIn.subscribe({ applicationServerKey: keys.publicKey }), over),
  }
}

/** The stage of the suite of every push service. */
export async function webPushStage(...args: Parameters<typeof startWebPush>): Promise<PushStage> {
  const { service, standIn, keys, device } = await startWebPush(...args)
  return { service, standIn, device: (brand = '1') => device({ brand }), secrets: [keys.privateKey] }
}

export function deviceOf(token: string, over: Partial<Device> = {}): Device {
  return { brand: '1', userId: '1001', kind: 'webpush', token, linkedAt: '2026-11-21T10:00:00Z', ...over }
}

/** Starts a push service that answers when the test calls release(). */
export async function startHolding(t: TestContext): Promise<{
  readonly url: string
  /** Resolves when a request has arrived. */
  readonly come: Promise<unknown>
  answer(): void
}> {
  const waiting: ServerResponse[] = []
  const server = createServer((request, response) => {
    waiting.push(response)
    request.resume()
  })
  const { url } = await listenLocally(t, server)
  return {
    url,
    come: once(server, 'request'),
    answer: () => {
      for (const response of waiting.splice(0)) response.writeHead(201).end()
    },
  }
}
