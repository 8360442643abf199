import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { apns } from '../../src/subjects/providers/apns/apns.ts'
import { fcm } from '../../src/subjects/providers/fcm/fcm.ts'
import type { PushService } from '../../src/subjects/providers/push-service.ts'
import { makeVapidKeys } from '../../src/subjects/providers/web-push/vapid.ts'
import { webPush } from '../../src/subjects/providers/web-push/web-push.ts'
import type { MadeDevice, ServiceName } from '../../src/tools/stand-ins/all.ts'
import { startStandIns } from '../../src/tools/stand-ins/all.ts'
import { startControl } from '../../src/tools/stand-ins/control.ts'

type ApiAnswer = Readonly<{ status: number; body: Record<string, never> }>

/** Starts the stand-ins with their control API, which tests in any language can use. */
async function startControlled(t: TestContext) {
  const keys = makeVapidKeys()
  const standIns = await startStandIns({ vapidPublicKey: keys.publicKey })
  const control = await startControl(standIns)
  const services: Record<ServiceName, PushService> = {
    fcm: fcm({ serviceAccount: standIns.fcm.credentials, baseUrl: standIns.fcm.url, ...caOf(standIns.fcm) }),
    apns: apns({
      ...standIns.apns.credentials,
      topic: standIns.apns.topic,
      baseUrl: standIns.apns.url,
      sandboxUrl: standIns.apns.sandboxUrl,
      ...caOf(standIns.apns),
    }),
    'web-push': webPush({
      ...keys,
      subject: 'mailto:ops@example.com',
      origins: { [standIns['web-push'].url]: standIns['web-push'].url },
    }),
  }
  t.after(async () => {
    await Promise.all(Object.values(services).map((service) => service.close?.()))
    await control.close()
    await standIns.close()
  })
  const callApi = async (method: string, path: string, body?: unknown): Promise<ApiAnswer> => {
    const response = await fetch(control.url + path, {
      method,
      ...(method === 'POST' && { headers: { 'content-type': 'application/json' } }),
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      signal: AbortSignal.timeout(20_000),
    })
    return { status: response.status, body: (await response.json()) as Record<string, never> }
  }
  const push = ({ service, kind, token, app, environment }: MadeDevice, ref: string, title: string) =>
    services[service].send(
      {
        ref,
        device: {
          brand: '1',
          userId: '1001',
          kind,
          token,
          linkedAt: '',
          ...(app !== undefined && { app }),
          ...(environment !== undefined && { environment }),
        },
        content: { title, body: 'There' },
        expiresAt: Date.now() + 60_000,
      },
      { deadline: Date.now() + 10_000, signal: new AbortController().signal },
    )
  const createDevice = async (options: object): Promise<MadeDevice> => {
    const { status, body } = await callApi('POST', '/devices', options)
    assert.equal(status, 200, JSON.stringify(body))
    return body as unknown as MadeDevice
  }
  return { callApi, createDevice, push }
}
const caOf = ({ ca }: { readonly ca?: string }): { ca?: string } => (ca === undefined ? {} : { ca })
const ref = (n: number): string => `019aa7c2-5f3e-7000-9c1b-00000000000${n}`

test('a device of each service is added over HTTP, reached by the real protocol, and shows its notifications', async (t) => {
  const { callApi, createDevice, push } = await startControlled(t)
  const wishes = [
    { service: 'fcm', name: 'phone' },
    { service: 'fcm', kind: 'fcm_fid' },
    { service: 'apns', environment: 'sandbox' },
    { service: 'web-push' },
  ]
  for (const [i, options] of wishes.entries()) {
    const device = await createDevice(options)
    assert.equal(device.id, i + 1)
    const waiting = callApi('GET', `/shown?device=${device.id}&count=1&wait=10`)
    const answer = await push(device, ref(i), `Hello ${i}`)
    assert.equal(answer.category, 'successful', JSON.stringify(answer))
    const { body } = await waiting
    assert.partialDeepStrictEqual(body, { device: i + 1, shown: [{ title: `Hello ${i}`, body: 'There', replaced: 0 }] })
  }
  const { body } = await callApi('GET', '/shown')
  assert.equal((body as unknown as { devices: unknown[] }).devices.length, 4)
  const all = (await callApi('GET', '/arrivals')).body as unknown as { arrivals: { service: string }[]; next: number }
  assert.deepEqual(
    all.arrivals.map(({ service }) => service),
    ['fcm', 'fcm', 'apns', 'web-push'],
  )
  assert.deepEqual((await callApi('GET', `/arrivals?after=${all.next}`)).body.arrivals, [])
  assert.equal((await callApi('GET', '/arrivals?service=apns')).body.next, 1)
})

test('a fault is active until it ends or is removed', async (t) => {
  const { callApi, createDevice, push } = await startControlled(t)
  const [one, two] = [await createDevice({ service: 'fcm' }), await createDevice({ service: 'fcm' })]
  const answer = { status: 503, headers: { 'retry-after': '7' }, body: '{"error":{"code":503,"status":"UNAVAILABLE"}}' }
  const played = await callApi('POST', '/faults', { service: 'fcm', device: one.id, answer })
  assert.equal(played.status, 200)
  assert.partialDeepStrictEqual(await push(one, ref(1), 'T'), { category: 'fatal', retryAfterMs: 7_000 })
  assert.equal((await push(two, ref(2), 'T')).category, 'successful')
  assert.equal(((await callApi('GET', '/faults')).body.faults as unknown as unknown[]).length, 1)
  assert.equal((await callApi('DELETE', `/faults/${played.body.id}`)).status, 200)
  assert.equal((await push(one, ref(3), 'T')).category, 'successful')

  await callApi('POST', '/faults', { service: 'fcm', reset: 'after', times: 1 })
  assert.partialDeepStrictEqual(await push(one, ref(4), 'T'), { category: 'fatal', uncertain: true })
  assert.equal((await push(one, ref(5), 'T')).category, 'successful')
  assert.equal((await callApi('DELETE', '/faults')).status, 200)
})

test('a device is switched off and on, and its app is removed', async (t) => {
  const { callApi, createDevice, push } = await startControlled(t)
  const device = await createDevice({ service: 'apns', online: false })
  await push(device, ref(1), 'kept')
  assert.deepEqual((await callApi('GET', `/shown?device=${device.id}`)).body.shown, [])
  const waiting = callApi('GET', `/shown?device=${device.id}&count=1&wait=10`)
  assert.equal((await callApi('POST', `/devices/${device.id}`, { online: true })).status, 200)
  assert.partialDeepStrictEqual((await waiting).body.shown, [{ title: 'kept' }])
  await callApi('POST', `/devices/${device.id}`, { gone: true })
  assert.partialDeepStrictEqual(await push(device, ref(2), 'T'), { category: 'failed', token: 'gone' })
})

test('an invalid request is refused with the valid values', async (t) => {
  const { callApi } = await startControlled(t)
  for (const [method, path, body, status, pattern] of [
    ['POST', '/devices', {}, 400, /service is missing: expected one of fcm, apns, web-push/],
    ['POST', '/devices', { service: 'sms' }, 400, /service must be one of/],
    ['POST', '/devices', { service: 'fcm', onlin: true }, 400, /onlin is unknown; known are service, name/],
    ['POST', '/devices', 'x', 400, /must be a JSON object/],
    ['POST', '/devices', `"${'x'.repeat(300_000)}"`, 413, /larger than/],
    ['POST', '/devices/7', { online: true }, 404, /no device 7/],
    ['POST', '/faults', { service: 'fcm', evry: 2 }, 400, /evry is unknown/],
    ['POST', '/faults', { service: 'fcm', answer: { status: 'x' } }, 400, /answer must be/],
    ['POST', '/faults', { service: 'fcm', device: 9 }, 404, /no device 9/],
    ['DELETE', '/faults/3', undefined, 404, /no fault 3/],
    ['GET', '/arrivals?service=x', undefined, 400, /service must be one of/],
    ['GET', '/shown?device=1', undefined, 404, /no device 1/],
    ['PUT', '/devices', undefined, 405, /use GET or POST/],
    ['GET', '/nothing', undefined, 404, /GET \/ lists the requests/],
  ] as const) {
    const answer = await callApi(method, path, body)
    assert.equal(answer.status, status, `${method} ${path}`)
    assert.match(String(answer.body.error), pattern)
  }
  assert.equal((await callApi('GET', '/')).status, 200)
})
