// People sign in without a key: a trusted proxy names them. chromium.test.ts signs in at a real OpenID provider.

import assert from 'node:assert/strict'
import test from 'node:test'
import { adminKey, get, startOperator } from '../support/sides.ts'
import { visitor } from './browse.ts'

const people = [
  { name: 'mara@example.com', scopes: ['counts', 'decide', 'read'] },
  { name: 'tom@example.com', scopes: ['counts'] },
] as const
const by = (name: string) => ({ 'x-forwarded-user': name })

test('a trusted proxy names the person, who has the own scopes and the own name in the audit trail; a change of the person ends the session', async (t) => {
  const { url } = await startOperator(t, {
    console: { people, proxyHeader: 'x-forwarded-user' } as never,
    listen: { trustedProxies: ['127.0.0.1'] },
  })
  const browser = visitor(url)
  const shown = await browser.look('/console/lanes', by('mara@example.com'))
  assert.equal(shown.path, '/console/sign-in?to=%2Flanes', 'the visitor sends the header to the first address only')
  const signedIn = await browser.look('/console/sign-in?to=%2Fdevices', by('mara@example.com'))
  assert.notEqual(browser.cookie, '')
  assert.match(signedIn.path, /^\/console\/sign-in/, 'without the header the session has ended')
  const page = await browser.look('/console/devices?brand=1&user=1', by('mara@example.com'))
  assert.equal(page.status, 200)
  assert.match(page.text, /mara@example\.com Sign out/)
  const { entries } = (await get(`${url}/admin/audit?act=devices.list`)).body
  assert.equal(entries[0].by, 'mara@example.com')
  assert.match((await browser.look('/console', by('tom@example.com'))).path, /sign-in/)

  const tom = visitor(url)
  await tom.look('/console/sign-in', by('tom@example.com'))
  assert.equal((await tom.look('/console/messages', by('tom@example.com'))).status, 403)
  const stranger = await visitor(url).look('/console/sign-in', by('eve@example.com'))
  assert.match(stranger.text, /eve@example\.com may not use this console/)
})

test('nobody but a trusted proxy may name a person', async (t) => {
  const { url } = await startOperator(t, { console: { people, proxyHeader: 'x-forwarded-user' } as never })
  const browser = visitor(url)
  const shown = await browser.look('/console/sign-in', by('mara@example.com'))
  assert.equal(browser.cookie, '')
  assert.match(shown.text, /Sign in with a key/)
  // No key of /admin is the name of a person.
  const refused = await fetch(`${url}/admin/lanes`, {
    headers: { 'x-api-key': 'mara@example.com', ...by('mara@example.com') },
  })
  assert.equal(refused.status, 401)
  assert.equal((await visitor(url).send('/console/sign-in', { key: adminKey.key })).status, 200)
})
