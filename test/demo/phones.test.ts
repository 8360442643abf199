// The demo's phones with the real stand-ins, which get their pushes from the operator's push services.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { emit } from '../../src/base/runtime/events.ts'
import { uuidv7 } from '../../src/base/runtime/ids.ts'
import type { Device } from '../../src/subjects/devices/device.ts'
import { deviceId } from '../../src/subjects/devices/identity.ts'
import { apns } from '../../src/subjects/providers/apns/apns.ts'
import { fcm } from '../../src/subjects/providers/fcm/fcm.ts'
import type { PushService } from '../../src/subjects/providers/push-service.ts'
import { webPush } from '../../src/subjects/providers/web-push/web-push.ts'
import type { Entry, State } from '../../src/tools/demo/entry.ts'
import { describeLocation, findPush } from '../../src/tools/demo/find-push.ts'
import { createPhones, type Phone, type Phones } from '../../src/tools/demo/phones.ts'
import { appOf, startPushServices } from '../../src/tools/demo/push-services.ts'
import { verifyPhones, verifyWaiting } from '../../src/tools/demo/verify.ts'

interface VapidSettings {
  readonly public_key: string
  readonly private_key: string
}

interface Stage {
  readonly phones: Phones
  /** All changes so far. */
  readonly changes: string[]
  phone(id: string): Phone
  /** Sends a push like the operator, with the data of the device's link. */
  push(phone: Phone, ref?: string): Promise<string>
}

async function stage(t: TestContext): Promise<Stage> {
  const { standIns, services: settings } = await startPushServices()
  const { fcm: google, apns: apple, 'web-push': browsers } = standIns
  const { public_key: publicKey, private_key: privateKey } = settings.at(-1) as VapidSettings
  const services: readonly PushService[] = [
    fcm({ serviceAccount: google.credentials, baseUrl: google.url }),
    apns({ ...apple.credentials, topic: appOf('1'), apps: [appOf('2')], baseUrl: apple.url }),
    webPush({ publicKey, privateKey, subject: 'mailto:demo@example.com', origins: { [browsers.url]: browsers.url } }),
  ]
  const phones = createPhones(standIns)
  const changes: string[] = []
  phones.onChange(({ id, online }, change) => changes.push(`${id} ${online ? 'online' : 'offline'} ${change}`))
  t.after(async () => {
    phones.stop()
    await Promise.all(services.map((service) => service.close?.()))
    await standIns.close()
  })
  return {
    phones,
    changes,
    phone: (id) => phones.list.find((each) => each.id === id) as Phone,
    async push({ brand, userId, link, service }, ref = uuidv7()) {
      const { token, app, environment } = link
      const kind = service === 'fcm' ? 'fcm_token' : service === 'apns' ? 'apns' : 'webpush'
      const device: Device = {
        ...{ brand, userId, kind, token, linkedAt: '' },
        ...(app && { app }),
        ...(environment && { environment: environment as 'production' | 'sandbox' }),
      }
      const reaching = services.find((each) => each.reaches(device))
      const content = { title: 'Hello', body: 'There', image_url: 'http://page/art/gift.svg' }
      const context = { deadline: Date.now() + 10_000, signal: new AbortController().signal }
      const answer = await reaching?.send({ ref, device, content, expiresAt: Date.now() + 60_000 }, context)
      assert.equal(answer?.category, 'successful', JSON.stringify(answer))
      emit('device.sent', { brand, ref, device: deviceId(token), service, category: 'x', rule: 'x', uncertain: false })
      return ref
    },
  }
}

function entry(brand: string, user_id: string, ref: string | undefined, state: State = 'arrived'): Entry {
  const rest = { key: `${brand}${user_id}${ref}`, brand_name: '', name: '', title: '', at: 0 }
  return { ...rest, channel: 'push', brand, user_id, state, ...(ref !== undefined && { ref }) }
}

test('the device of each service shows its push, and no other device does', async (t) => {
  const { phones, phone, push, changes } = await stage(t)
  for (const id of ['1/1001/1', '1/1002/1', '1/1002/2']) {
    const ref = await push(phone(id))
    assert.partialDeepStrictEqual(phones.shown(phone(id)).at(-1), { title: 'Hello', body: 'There', tag: ref })
    assert.deepEqual(findPush(ref, phones), { on: [phone(id)], waitsFor: [] })
    assert.equal(changes.at(-1), `${id} online content`)
  }
  assert.deepEqual(new Set(phones.of('1', '1002').map(({ service }) => service)), new Set(['fcm', 'web-push']))
  // The same user id of the other brand is another person.
  assert.deepEqual(phones.of('2', '1001').flatMap(phones.shown), [])
})

test('a stored push is reported at once, and shown when the phone is online; Apple stores only the newest', async (t) => {
  const { phones, phone, push, changes } = await stage(t)
  assert.equal(phone('2/1002/1').online, false)
  for (const [id, kept] of [
    ['2/1002/1', 3],
    ['1/1001/1', 1],
    ['1/1002/2', 3],
  ] as const) {
    phones.setOnline(id, false)
    changes.length = 0
    const refs = [await push(phone(id)), await push(phone(id)), await push(phone(id))]
    assert.deepEqual(phones.shown(phone(id)), [])
    assert.deepEqual(
      phones.kept(phone(id)).map(({ tag }) => tag),
      refs.slice(-kept),
    )
    assert.deepEqual(changes, Array(3).fill(`${id} offline content`))
    assert.match(describeLocation(findPush(refs[2] as string, phones)), /^waits at .* for the .*, which is offline$/)
    if (kept === 1) assert.match(describeLocation(findPush(refs[0] as string, phones)), /^never shown/)
    changes.length = 0
    phones.setOnline(id, true)
    assert.deepEqual(changes, [`${id} online connection`, ...Array(kept).fill(`${id} online content`)])
    assert.deepEqual(
      phones.shown(phone(id)).map(({ tag }) => tag),
      refs.slice(-kept),
    )
    phones.setOnline(id, true)
    assert.equal(changes.length, 1 + kept, 'the phone is online already')
  }
  assert.equal(phones.setOnline('3/1001/1', true), undefined)
})

const expected = (verdicts: readonly { readonly expected: boolean }[]): boolean =>
  verdicts.every((verdict) => verdict.expected)

test('the verdicts count the shown pushes, and those that wait for offline phones', async (t) => {
  const { phones, phone, push } = await stage(t)
  const toTheo = await push(phone('1/1002/1'))
  await push(phone('1/1002/2'), toTheo)
  const toAiko = await push(phone('2/1002/1'))
  const entries = [
    entry('1', '1002', toTheo),
    entry('2', '1002', toAiko, 'kept'),
    entry('1', '1003', undefined, 'refused'),
  ]
  assert.ok(expected(verifyWaiting(entries, phones)) && expected(verifyPhones(entries, phones)))
  assert.match(verifyWaiting(entries, phones)[0]?.text ?? '', /^1 of 1 push for a phone that is offline waits/)
  assert.match(verifyPhones(entries, phones)[0]?.text ?? '', /^2 of 2 pushes are on their devices/)
  phones.setOnline('2/1002/1', true)
  assert.deepEqual(verifyWaiting(entries, phones), [])
  assert.match(verifyPhones(entries, phones)[0]?.text ?? '', /^3 of 3 pushes/)
  assert.ok(expected(verifyPhones(entries, phones)))
})

test('the verdicts detect pushes that are missing, duplicate, misplaced, or lost while a phone was offline', async (t) => {
  const { phones, phone, push } = await stage(t)
  const toMara = await push(phone('1/1001/1'))
  const entries = [entry('1', '1001', toMara)]
  assert.ok(expected(verifyPhones(entries, phones)))
  assert.ok(!expected(verifyPhones([...entries, entry('2', '1001', uuidv7())], phones)), 'missing')
  assert.ok(!expected(verifyWaiting([entry('2', '1002', uuidv7())], phones)), 'no push waits for Aiko')
  await push(phone('2/1001/1'), toMara)
  assert.ok(!expected(verifyPhones(entries, phones)), 'the push is also on the phone of another user')
  const toElif = await push(phone('2/1003/1'))
  await push(phone('2/1003/1'), toElif)
  assert.ok(!expected(verifyPhones([entry('2', '1003', toElif)], phones)), 'twice')
})

test('the verdict on the phone of an excluded user is that it stayed silent', async (t) => {
  const { phones, phone, push } = await stage(t)
  const entries = [entry('1', '1003', undefined, 'refused')]
  assert.ok(expected(verifyPhones(entries, phones)))
  phones.setOnline('1/1003/1', false)
  await push(phone('1/1003/1'))
  assert.ok(!expected(verifyPhones(entries, phones)), 'a push is stored, so the phone will ring')
  phones.setOnline('1/1003/1', true)
  assert.match(verifyPhones(entries, phones)[1]?.text ?? '', /excluded herself rang/)
})
