import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { uuidv7 } from '../../../src/base/runtime/ids.ts'
import type { PushContent } from '../../../src/contract/content.ts'
import type { Device } from '../../../src/subjects/devices/device.ts'
import type { SendContext } from '../../../src/subjects/providers/provider.ts'
import type { Push, PushService } from '../../../src/subjects/providers/push-service.ts'
import { makeVapidKeys, type VapidKeys } from '../../../src/subjects/providers/web-push/vapid.ts'
import { type WebPushOptions, webPush } from '../../../src/subjects/providers/web-push/web-push.ts'
import {
  startWebPushStandIn,
  type WebPushStandIn,
  type WebPushStandInOptions,
} from '../../../src/tools/stand-ins/web-push.ts'

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

export function deviceOf(token: string, over: Partial<Device> = {}): Device {
  return { brand: '1', userId: '1001', kind: 'webpush', token, linkedAt: '2026-11-21T10:00:00Z', ...over }
}

export function pushTo(device: Device, over: Partial<Push> = {}): Push {
  const content: PushContent = { title: 'Hello', body: 'There' }
  return { ref: uuidv7(), device, content, expiresAt: Date.now() + 3_600_000, ...over }
}

export const contextOf = (ms = 10_000, signal: AbortSignal = new AbortController().signal): SendContext => ({
  deadline: Date.now() + ms,
  signal,
})

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
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    come: once(server, 'request'),
    answer: () => {
      for (const response of waiting.splice(0)) response.writeHead(201).end()
    },
  }
}
