// Who is this person, and what may they get?

import assert from 'node:assert/strict'
import test from 'node:test'
import { importLines } from '../reconcile/platform.ts'
import { adminKey, element, keys, post, startOperator } from '../support/sides.ts'
import { anna } from './at-work.ts'
import { signedIn } from './browse.ts'
import { sendingPlatform } from './sending.ts'

test('a person is shown with attributes and their times, with messages, and with an export only for the scope people', async (t) => {
  const { url } = await sendingPlatform(t)
  await importLines(url, '1', [{ user_id: 'mara', blocked: true, consent_push_notification: true }])
  const browser = await signedIn(url, anna.key)
  const { text, html } = await browser.look('/console/person?brand=1&user=mara')
  assert.match(text, /blocked yes 2026-01-01 00:00:00 UTC/)
  assert.match(text, /Latest messages .* mara/)
  assert.doesNotMatch(html, /person\/export/)
  assert.equal((await browser.look('/console/person/export?brand=1&user=mara')).status, 403)
  assert.match(
    (await browser.look('/console/person?brand=1&user=nobody')).text,
    /no attributes of this user.*no message/,
  )

  const exporting = await signedIn(url, adminKey.key)
  const held = await exporting.look('/console/person/export?brand=1&user=mara')
  assert.match(held.text, /devices 2.*"user_id": "mara"/)
  assert.doesNotMatch(held.html, /the-long-token|a{20}/, 'a token is not shown in full')
  assert.match(held.html, /<pre tabindex="0"/, 'the keyboard scrolls the text')
})

test('the operator shows the source and the times of the latest permission', async (t) => {
  const attributes = {
    name: 'users.csv',
    fields: ['blocked', 'consent_push_notification'] as const,
    among: async () => new Map([['consent_push_notification' as const, new Set(['mara'])]]),
  }
  const { url } = await startOperator(t, { adminKeys: [adminKey, anna] as never, attributes })
  await post(`${url}/channels/push/batch`, [element({ user_id: 'mara' })], keys.one.key)
  const { text } = await (await signedIn(url, anna.key)).look('/console/person?brand=1&user=mara')
  assert.match(text, /Permission at the latest message Decided .* Source users\.csv, asked 20/)
})
