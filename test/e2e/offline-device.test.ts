// A device that was offline gets all waiting messages when it is online again, except expired ones.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { Device } from '../../src/subjects/devices/device.ts'
import { functionDevices } from '../../src/subjects/devices/sources/function.ts'
import { fcm } from '../../src/subjects/providers/fcm/fcm.ts'
import type { PushService } from '../../src/subjects/providers/push-service.ts'
import { makeVapidKeys } from '../../src/subjects/providers/web-push/vapid.ts'
import { webPush } from '../../src/subjects/providers/web-push/web-push.ts'
import { fcmStandIn } from '../../src/tools/stand-ins/fcm.ts'
import type { StandIn } from '../../src/tools/stand-ins/stand-in.ts'
import { startWebPushStandIn } from '../../src/tools/stand-ins/web-push.ts'
import { element, post, startOperator } from '../support/sides.ts'

interface OfflineDevice {
  readonly standIn: StandIn
  readonly service: PushService
  readonly kind: Device['kind']
  readonly token: string
}

const lifetimeMs = 3_600_000

const services: Record<string, (t: TestContext, clock: () => number) => Promise<OfflineDevice>> = {
  async fcm(t, clock) {
    const standIn = await fcmStandIn({ clock })
    t.after(() => standIn.close())
    const service = fcm({ serviceAccount: standIn.credentials, baseUrl: standIn.url, ca: standIn.ca as string })
    return { standIn, service, kind: 'fcm_token', token: standIn.device({ online: false }) }
  },
  async 'web-push'(t, now) {
    const standIn = await startWebPushStandIn({ now })
    t.after(() => standIn.close())
    const keys = makeVapidKeys()
    const token = standIn.subscribe({ applicationServerKey: keys.publicKey })
    standIn.setOnline(token, false)
    const origins = { [standIn.url]: standIn.url }
    return {
      standIn,
      service: webPush({ ...keys, subject: 'mailto:ops@example.com', origins }),
      kind: 'webpush',
      token,
    }
  },
}

for (const [name, start] of Object.entries(services)) {
  for (const late of [false, true]) {
    const behavior = late
      ? 'a device that is online too late shows no message'
      : 'ten messages are shown when the device is online'
    test(`${name}: ${behavior}`, async (t) => {
      let later = 0
      const { standIn, service, kind, token } = await start(t, () => Date.now() + later)
      const linkedAt = '2026-01-01T00:00:00Z'
      const source = functionDevices((brand, users) =>
        users.includes('1001') && brand === '1' ? [{ user_id: '1001', kind, token, linked_at: linkedAt }] : [],
      )
      const { url } = await startOperator(t, { push: { devices: { source, services: [service], lifetimeMs } } })
      const titles = Array.from({ length: 10 }, (_, i) => `message ${i}`)
      for (const title of titles)
        assert.partialDeepStrictEqual(await post(`${url}/channels/push/single`, element({}, { title })), {
          status: 200,
        })
      assert.equal((await post(`${url}/channels/push/single`, element({ brand_id: 2 }))).status, 422)
      assert.deepEqual(standIn.shown(token), [])
      later = late ? lifetimeMs + 1_000 : lifetimeMs - 60_000
      standIn.setOnline(token, true)
      assert.deepEqual(
        standIn.shown(token).map(({ title }) => title),
        late ? [] : titles,
      )
    })
  }
}
