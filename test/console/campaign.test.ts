// What did the campaign do, and who did what?

import assert from 'node:assert/strict'
import test from 'node:test'
import { adminKey, get, post } from '../support/sides.ts'
import { until } from '../support/wait.ts'
import { anna, hostile, ofBrand1 } from './at-work.ts'
import { signedIn } from './browse.ts'
import { sendingPlatform } from './sending.ts'

test('the messages of each activity are counted by how far they came, and each is listed with its statuses', async (t) => {
  const { url } = await sendingPlatform(t)
  const delivered = async () =>
    (await get(`${url}/admin/conversions?activity=40`)).body.groups.some(
      (each: { delivered: number }) => each.delivered === 7,
    )
  await until(delivered, { awaited: 'the inbox has the messages of activity 40' })
  const browser = await signedIn(url, anna.key)
  const counted = await browser.look('/console/conversions?channel=site')
  assert.match(counted.text, /Sent 7 Delivered 100 % 7 Displayed 0 % 0 Clicked 0 % 0/)
  assert.match(counted.text, /40 1\/site 7 7 100 % 0 0 % 0 0 % 0/)
  const link = /"(\/console\/conversions\/messages\?[^"]*)"/.exec(counted.html)?.[1]?.replaceAll('&#61;', '=') as string
  const listed = await browser.look(link.replaceAll('&amp;', '&'))
  assert.match(listed.text, /1\/site 40 41 delivered delivered 20\d\d-/)
  assert.equal(listed.html.match(/messages\?find/g)?.length, 7)
  const misspelt = await browser.look('/console/conversions?activity=summer')
  assert.match(misspelt.text, /Activity is "summer": give a number of 1 to 19 digits\./)
  const ofAnother = await signedIn(url, ofBrand1.key)
  assert.equal((await ofAnother.look('/console/conversions?brand=2')).status, 403)
})

test('the audit trail shows who acted, on what, and why, as text', async (t) => {
  const { url } = await sendingPlatform(t)
  await post(`${url}/admin/lanes/pause`, { lane: '1/push', reason: hostile }, anna.key)
  await get(`${url}/admin/devices?brand=1&user_id=mara`, anna.key)
  const browser = await signedIn(url, adminKey.key)
  const { text, html } = await browser.look('/console/audit?by=anna')
  assert.match(text, /anna 127\.0\.0\.1 devices\.list 1 mara – .*anna 127\.0\.0\.1 lanes\.pause 1\/push – – <img src=x/)
  assert.doesNotMatch(html, /<img|\u202e/)
  assert.doesNotMatch((await browser.look('/console/audit?by=anna&act=lanes.pause')).text, /devices\.list/)
  const refused = await (await signedIn(url, anna.key)).look('/console/audit')
  assert.equal(refused.status, 403, 'the trail needs its own scope')
})
