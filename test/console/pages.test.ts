// Every page of the console, with messages in each state: hostile texts, brands of the key, scopes, long filters.

import assert from 'node:assert/strict'
import test from 'node:test'
import { acts, pages } from '../../src/sides/console/pages.ts'
import { adminKey, element, get, post, startPlatform, witness } from '../support/sides.ts'
import { until } from '../support/wait.ts'
import { hostile, ofBrand1, reader, sidesAtWork } from './at-work.ts'
import { signedIn, type Visitor } from './browse.ts'

/** The addresses of the pages that need parameters, on the side that has them. */
async function addressesOf(browser: Visitor, side: string): Promise<Readonly<Record<string, string>>> {
  const { html } = await browser.look(`/console/messages?find=${side === 'platform' ? 'h1' : '1001'}`)
  const message = /"\/console\/message\?([^"]*)"/.exec(html)?.[1] as string
  const lane = side === 'platform' ? '1/site' : '1/device-links'
  return {
    '/lane': `?name=${lane}`,
    '/message': `?${message.replace('&#61;', '=')}`,
    '/messages': '?find=h1',
    '/devices': '?brand=1&user=h1',
    '/person': '?brand=1&user=h1',
    '/person/export': '?brand=1&user=h1',
  }
}

test('every page shows texts of strangers as text, and is refused a filter of 10,000 characters without harm', async (t) => {
  const sides = await sidesAtWork(t)
  const seen = new Map<string, number>()
  for (const [side, url] of Object.entries(sides)) {
    const browser = await signedIn(url, adminKey.key)
    const parameters = await addressesOf(browser, side)
    for (const { path } of pages) {
      const shown = await browser.look(`/console${path}${parameters[path] ?? ''}`)
      if (shown.status === 404) continue
      assert.equal(shown.status, 200, `${side} ${path}: ${shown.text}`)
      assert.doesNotMatch(shown.html, /<img|\u202e/, path)
      if (path === '/message') assert.match(shown.html, /&#60;img/, side)
      seen.set(path, (seen.get(path) ?? 0) + Number(shown.text.includes('<img src=x onerror=alert(1)>"\'&')))
      const long = await browser.look(`/console${path}?find=${'x'.repeat(10_000)}&user=${'x'.repeat(100)}&error=<img>`)
      assert.ok([200, 400, 404].includes(long.status), `${path}: ${long.status}`)
      assert.doesNotMatch(long.html, /<img/)
    }
  }
  // Files beside look at these: no lists are compared here, nobody is erased, and there is no configuration.
  const unseen = pages.filter(({ path }) => !seen.has(path)).map(({ path }) => path)
  assert.deepEqual(unseen, ['/person/erasure', '/reconciliation/run', '/reconciliation/users', '/settings'])
  for (const path of ['/', '/lanes', '/lane', '/messages', '/message', '/failed', '/person'])
    assert.ok((seen.get(path) ?? 0) > 0, `the hostile text ${hostile} is on ${path}`)
})

test('a key sees the lanes of its brands only, also if an address names another brand', async (t) => {
  const { platform } = await sidesAtWork(t)
  const browser = await signedIn(platform, ofBrand1.key)
  for (const path of ['/console', '/console/lanes', '/console/lanes?brand=2', '/console/messages?find=1002&brand=1'])
    assert.doesNotMatch((await browser.look(path)).text, /2\/push/, path)
  for (const path of ['/console/messages?find=1002&brand=2', '/console/lane?name=2/push'])
    assert.ok([403, 404].includes((await browser.look(path)).status), path)
  const { text } = await browser.look('/console/messages?find=2001')
  assert.match(text, /No message has/)
  for (const seq of [1, 2, 3, 4, 5, 6, 7])
    assert.doesNotMatch((await browser.look(`/console/message?seq=${seq}`)).text, /activity.id 200|2\/push/)
  assert.match((await browser.look('/console/lanes')).text, /1\/push/)
  const { text: found } = await browser.look('/console/messages?find=1003')
  assert.match(found, /waiting paused by anna: wrong text/, 'an error that begins with its reason says it once')
})

test('a key that only reads is offered no act, and is refused each', async (t) => {
  const { platform } = await sidesAtWork(t)
  const browser = await signedIn(platform, reader.key)
  const parameters = await addressesOf(browser, 'platform')
  for (const { path } of pages) {
    const { html } = await browser.look(`/console${path}${parameters[path] ?? ''}`)
    assert.match(html, /<h1/)
    for (const act of acts) assert.ok(!html.includes(`/console${act.path}`), `${path} offers ${act.path}`)
  }
  for (const act of acts) {
    const asked = await browser.look(`/console${act.path}?lane=1/push`)
    const sent = await browser.send(`/console${act.path}`, { lane: '1/push', reason: 'x' })
    // 404: this side has no such act.
    for (const { status } of [asked, sent]) assert.ok([403, 404].includes(status), act.path)
  }
})

test('more groups of Failed Actions than an answer has are counted, and the sum says that it is not of all', async (t) => {
  const refusing = witness(() => ({ category: 'failed', reason: 'rejected', error: 'no', rule: '§7.1 422' }), 10_000)
  const { url } = await startPlatform(t, {
    lanes: [{ brand: '1', channel: 'push', mode: 'batch', provider: refusing, max: 10_000, spanMs: 5 }],
  })
  const records = Array.from({ length: 10_002 }, (_, i) => element({ activity_id: i }))
  await post(`${url}/admin/activities/push`, records, adminKey.key)
  await until(async () => (await get(`${url}/admin/summary`)).body.failed === records.length, {
    awaited: 'all have failed',
  })
  const { text } = await (await signedIn(url, adminKey.key)).look('/console/failed')
  assert.match(text, /At least 10,000 items wait for a decision\..*9,902 further groups\./)
  const asked = await (await signedIn(url, adminKey.key)).look('/console/failed/dismiss?all=true')
  assert.match(asked.text, /9,992 further groups\. 10,002 items will be dismissed/)
})
