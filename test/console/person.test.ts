// Who is this person, and what may they get?

import assert from 'node:assert/strict'
import test from 'node:test'
import { importLines } from '../reconcile/platform.ts'
import { adminKey, element, get, keys, post, startOperator } from '../support/sides.ts'
import { until } from '../support/wait.ts'
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

test('a person is erased after a preview with counts and a reason; the page of the erasure shows the report and names nobody', async (t) => {
  const { url } = await sendingPlatform(t)
  const browser = await signedIn(url, adminKey.key)
  const asked = await browser.look('/console/person/erase?brand=1&user=mara')
  assert.match(asked.text, /devices 2.*rows of user mara of brand 1 are erased on this platform/)
  const unexplained = await browser.send('/console/person/erase', { brand: '1', user: 'mara' })
  assert.equal(unexplained.status, 400)
  const begun = await browser.send('/console/person/erase', { brand: '1', user: 'mara', reason: 'her letter of May' })
  assert.match(begun.path, /^\/console\/person\/erasure\?id=[\w-]+&did=%2Fperson%2Ferase/)
  assert.match(begun.text, /The erasure of \d+ rows began/)
  const report = async () => (await browser.look(begun.path)).text
  await until(async () => /Erasure done/.test(await report()), { awaited: 'the erasure is done' })
  assert.match(await report(), /by admin .* devices 2 .* Columns? As Why|devices 2/)
  assert.doesNotMatch(await report(), /mara/)
  const { entries } = (await get(`${url}/admin/audit?act=people.erase`)).body
  assert.equal(entries[0].reason, 'her letter of May')
  const other = await signedIn(url, anna.key)
  assert.equal((await other.look('/console/person/erase?brand=1&user=mara')).status, 403)
  assert.equal((await other.look(begun.path)).status, 403)
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
