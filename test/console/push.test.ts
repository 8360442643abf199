// Do pushes arrive? The state of the push services, the removal brake, and the devices of a user.

import assert from 'node:assert/strict'
import test from 'node:test'
import { adminKey, get } from '../support/sides.ts'
import { anna, hostile, ofBrand1, reader } from './at-work.ts'
import { signedIn } from './browse.ts'
import { sendingPlatform } from './sending.ts'

test('a person sees which push services send, which are paused, why and until when, and whose removals have stopped', async (t) => {
  const { url } = await sendingPlatform(t)
  const { services } = (await get(`${url}/admin/services`)).body
  const apns = services.find(({ service }: { service: string }) => service === 'apns')
  assert.equal(apns.paused.reason, `not authorized ${hostile}`)
  assert.ok(apns.paused.next_try_at > Date.now())
  assert.ok(!('paused' in services.find(({ service }: { service: string }) => service === 'fcm')))

  const browser = await signedIn(url, anna.key)
  const { text, html } = await browser.look('/console/push')
  assert.match(text, /removal of dead devices by fcm has stopped/)
  assert.match(text, /apns push paused 0 \d+ 0 paused, next try 20[\d-]+ [\d:]+ UTC : not authorized <img src=x/)
  assert.match(text, /fcm push running/)
  assert.match(text, /inbox site running/)
  assert.doesNotMatch(html, /<img|\u202e/)

  assert.match(text, /huawei push paused in part/)
  assert.match(text, /new <img src=x[^>]*>"'&�? paused paused, next try/)
  assert.match(text, /old <img src=x[^>]*>"'&�? running/)
  const { html: read } = await (await signedIn(url, reader.key)).look('/console/push')
  assert.doesNotMatch(read, /push\/confirm/, 'a key that only reads is offered no act')
  const ofOneBrand = await signedIn(url, ofBrand1.key)
  assert.doesNotMatch((await ofOneBrand.look('/console/push')).text, /push\/confirm|old <img/)

  const asked = await browser.look('/console/push/confirm?service=fcm')
  assert.match(asked.text, /fcm reported 3 dead devices in \d+ sends/)
  const refused = await browser.send('/console/push/confirm', { service: 'fcm' })
  assert.equal(refused.status, 400, 'an act needs a reason')
  const done = await browser.send('/console/push/confirm', { service: 'fcm', for_minutes: '15', reason: 'a test app' })
  assert.match(done.text, /removed again, for 15 minutes/)
  assert.match(done.text, /anna confirmed the removal of dead devices/)
  assert.doesNotMatch(done.html, /push\/confirm/)
  const { entries } = (await get(`${url}/admin/audit?act=removals.confirm`, adminKey.key)).body
  assert.partialDeepStrictEqual(entries, [{ by: 'anna', reason: 'a test app' }])
})

test('the devices of a user are listed without their tokens, also the removed ones with the reason', async (t) => {
  const { url } = await sendingPlatform(t)
  const browser = await signedIn(url, anna.key)
  assert.match((await browser.look('/console/devices')).text, /Give a brand and a user/)
  const { text, html } = await browser.look('/console/devices?brand=1&user=mara')
  assert.match(text, /fcm_token the-l… – android www\.example\.com 2026-01-01 10:00:00 UTC/)
  assert.match(text, /apns aaaaaa…/)
  assert.doesNotMatch(html, /the-long-token|a{20}/)
  const dead = await browser.look('/console/devices?brand=1&user=d0')
  assert.match(dead.text, /Removed devices.*fcm: 410/)
  assert.doesNotMatch((await browser.look(`/console/devices?brand=1&user=${encodeURIComponent(hostile)}`)).html, /<img/)

  const ofOneBrand = await signedIn(url, ofBrand1.key)
  assert.equal((await ofOneBrand.look('/console/devices?brand=2&user=mara')).status, 403)
})
