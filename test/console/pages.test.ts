// Every page of the console, with messages in each state: hostile texts, brands of the key, scopes, long filters.

import assert from 'node:assert/strict'
import test from 'node:test'
import { acts, pages } from '../../src/sides/console/pages.ts'
import { anna, hostile, ofBrand1, reader, sidesAtWork } from './at-work.ts'
import { signedIn } from './browse.ts'

/** The parameters of the pages that need some. */
const parameters: Readonly<Record<string, string>> = {}

test('every page shows texts of strangers as text, and is refused a filter of 10,000 characters without harm', async (t) => {
  const sides = await sidesAtWork(t)
  const seen = new Map<string, number>()
  for (const [side, url] of Object.entries(sides)) {
    const browser = await signedIn(url, anna.key)
    for (const { path } of pages) {
      const shown = await browser.look(`/console${path}${parameters[path] ?? ''}`)
      if (shown.status === 404) continue
      assert.equal(shown.status, 200, `${side} ${path}: ${shown.text}`)
      assert.doesNotMatch(shown.html, /<img|\u202e/, path)
      seen.set(path, (seen.get(path) ?? 0) + Number(shown.text.includes('<img src=x onerror=alert(1)>"\'&')))
      const long = await browser.look(`/console${path}?find=${'x'.repeat(10_000)}&user=${'x'.repeat(100)}&error=<img>`)
      assert.ok([200, 400, 404].includes(long.status), `${path}: ${long.status}`)
      assert.doesNotMatch(long.html, /<img/)
    }
  }
  assert.deepEqual(
    pages.filter(({ path }) => !seen.has(path)),
    [],
  )
  assert.ok((seen.get('/lanes') ?? 0) > 0, `the hostile text ${hostile} is on the pages`)
})

test('a key sees the lanes of its brands only, also if an address names another brand', async (t) => {
  const { platform } = await sidesAtWork(t)
  const browser = await signedIn(platform, ofBrand1.key)
  for (const path of ['/console', '/console/lanes', '/console/lanes?brand=2'])
    assert.doesNotMatch((await browser.look(path)).text, /2\/push/, path)
  assert.match((await browser.look('/console/lanes')).text, /1\/push/)
})

test('a key that only reads is offered no act, and is refused each', async (t) => {
  const { platform } = await sidesAtWork(t)
  const browser = await signedIn(platform, reader.key)
  for (const { path } of pages) {
    const { html } = await browser.look(`/console${path}${parameters[path] ?? ''}`)
    for (const act of acts) assert.ok(!html.includes(`/console${act.path}`), `${path} offers ${act.path}`)
  }
  for (const act of acts) {
    assert.equal((await browser.look(`/console${act.path}?lane=1/push`)).status, 403, act.path)
    assert.equal((await browser.send(`/console${act.path}`, { lane: '1/push', reason: 'x' })).status, 403, act.path)
  }
})
