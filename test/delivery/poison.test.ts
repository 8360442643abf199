// Brands share the credentials of the push services: malformed messages of one brand must not stop the messages of another.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { Device } from '../../src/subjects/devices/device.ts'
import { apns } from '../../src/subjects/providers/apns/apns.ts'
import { fcm } from '../../src/subjects/providers/fcm/fcm.ts'
import type { PushService } from '../../src/subjects/providers/push-service.ts'
import { apnsStandIn } from '../../src/tools/stand-ins/apns.ts'
import { fcmStandIn } from '../../src/tools/stand-ins/fcm.ts'
import { device, deviceBook } from '../support/push-services.ts'
import { element, post, startOperator } from '../support/sides.ts'

interface Setup {
  readonly service: PushService
  /** Registers a device at the service's stand-in. */
  readonly registerDevice: () => Pick<Device, 'kind' | 'token'>
}

async function setUpApns(t: TestContext): Promise<Setup> {
  const standIn = await apnsStandIn()
  t.after(() => standIn.close())
  const { credentials, topic, url: baseUrl, sandboxUrl, ca } = standIn
  const service = apns({ ...credentials, topic, baseUrl, sandboxUrl, ...(ca !== undefined && { ca }) })
  return { service, registerDevice: () => ({ kind: 'apns', token: standIn.device() }) }
}

async function setUpFcm(t: TestContext): Promise<Setup> {
  const standIn = await fcmStandIn()
  t.after(() => standIn.close())
  const { credentials: serviceAccount, url: baseUrl, ca } = standIn
  const service = fcm({ serviceAccount, baseUrl, ...(ca !== undefined && { ca }) })
  return { service, registerDevice: () => ({ kind: 'fcm_token', token: standIn.device() }) }
}

const long = 'a'.repeat(90_000)

/** Sends 20 messages of brand 1 with the poison, and then one of brand 2, which must be delivered. */
async function attack(
  t: TestContext,
  { service, registerDevice }: Setup,
  poison: Readonly<Record<string, unknown>>,
  poisonedDevice: Partial<Device> = {},
): Promise<void> {
  const devices = [device({ ...registerDevice(), ...poisonedDevice }), device({ brand: '2', ...registerDevice() })]
  const { url } = await startOperator(t, {
    push: { devices: { source: deviceBook(devices), services: [service] } },
  })
  const sendGood = () => post(`${url}/channels/push/single`, element({ brand_id: 2 }))
  assert.equal((await sendGood()).status, 200)
  const poisoned = Array.from({ length: 20 }, () => element({}, poison))
  const { body } = await post(`${url}/channels/push/batch`, poisoned)
  assert.deepEqual([body.failed.length, body.fatal.length], [20, 0], JSON.stringify(body).slice(0, 500))
  const after = await sendGood()
  assert.equal(after.status, 200, after.text)
}

for (const [what, headers] of Object.entries({
  'a push type of 90,000 characters': { 'apns-push-type': long },
  'a priority with a line break': { 'apns-priority': '10\r\nx-evil: 1' },
  'a collapse id in another script': { 'apns-collapse-id': 'ал' },
}))
  test(`apns: ${what} in one brand's messages stops no other brand`, async (t) =>
    attack(t, await setUpApns(t), { overrides: { apns: { headers } } }))

test('apns: a malformed device token stops no other brand', async (t) =>
  attack(t, await setUpApns(t), {}, { token: '€'.repeat(4_096) }))

for (const [what, overrides] of Object.entries({
  'an APNs topic': { apns: { headers: { 'apns-topic': 'com.example.other' } } },
  'an urgency of 90,000 characters': { webpush: { headers: { Urgency: long } } },
  'a lifetime in words': { android: { ttl: 'for ever' } },
  'a label of 90,000 characters': { fcm_options: { analytics_label: long } },
}))
  test(`fcm: ${what} in one brand's messages stops no other brand and is never sent`, async (t) =>
    attack(t, await setUpFcm(t), { overrides: { fcm: overrides } }))
