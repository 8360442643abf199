// The console in a real Chromium: the script runs under the policy, axe finds nothing, and three steps lead to a reason.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import test, { after, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Browser, type BrowserContextOptions, chromium as engine, type Page } from 'playwright-core'
import { freePort } from '../support/free-port.ts'
import { oidcClient, startOidcProvider } from '../support/oidc-provider.ts'
import { chromium, withoutChromium } from '../support/services/chromium.ts'
import { get, post, startOperator } from '../support/sides.ts'
import { tcpProxy } from '../support/tcp-proxy.ts'
import { anna, sidesAtWork } from './at-work.ts'
import { journeys, type Tab, withoutScript } from './journeys.ts'

const skip = await withoutChromium()
const browser = skip
  ? undefined
  : await engine.launch({
      executablePath: await chromium(),
      args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
    })
after(() => browser?.close())

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** A page that is signed in. Anything that the browser reports as an error fails the test. */
async function open(t: TestContext, url: string, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await (browser as Browser).newContext(options)
  t.after(() => context.close())
  const page = await context.newPage()
  const errors: string[] = []
  page.on('pageerror', ({ message }) => errors.push(message))
  page.on('console', (message) => {
    if (message.type() === 'error' && !lostConnection.test(message.text())) errors.push(message.text())
  })
  t.after(() => assert.deepEqual(errors, []))
  await page.goto(`${url}/console`)
  await page.fill('#key', anna.key)
  await page.keyboard.press('Enter')
  await page.waitForSelector('nav')
  return page
}

/** The side cannot be reached, as one test wants it. */
const lostConnection = /net::ERR_|htmx:(sse:)?error/

const tabs =
  (javaScriptEnabled: boolean) =>
  async (t: TestContext): Promise<Tab> => {
    const context = await (browser as Browser).newContext({ javaScriptEnabled })
    t.after(() => context.close())
    const page = await context.newPage()
    return {
      open: async (address) => void (await page.goto(address)),
      async click(selector) {
        await Promise.all([page.waitForNavigation(), page.click(selector)])
      },
      fill: (selector, value) => page.fill(selector, value),
      text: () => page.innerText('body'),
      count: (selector) => page.locator(selector).count(),
    }
  }

journeys({ browser: 'Chromium', skip, newTab: tabs(true) })
journeys({ browser: 'Chromium without JavaScript', skip, newTab: tabs(false) })
withoutScript({ browser: 'Chromium', skip, newTab: tabs(false) })

async function faultsOf(page: Page): Promise<readonly unknown[]> {
  // In another world than that of the page: the policy of the page forbids scripts from elsewhere.
  await page.evaluate(axe)
  // The transfer of all that passed would take longer than the rules.
  return await page.evaluate(
    `axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html, nodes[0].failureSummary]))`,
  )
}

test('by keyboard, search leads from the overview to why a message of user 1001 did not arrive; axe finds nothing', {
  skip,
}, async (t) => {
  const { platform } = await sidesAtWork(t)
  const page = await open(t, platform)
  for (const [letter, heading] of [
    ['o', /held/],
    ['l', /Lanes/],
    ['f', /Failed Actions/],
    ['m', /Messages/],
  ] as const) {
    await page.keyboard.press('g')
    await page.keyboard.press(letter)
    await page.waitForSelector(`nav a[data-letter="${letter}"][aria-current]`)
    assert.match(await page.locator('h1').first().innerText(), heading)
    assert.deepEqual(await faultsOf(page), [], letter)
  }
  await page.keyboard.press('?')
  await page.waitForSelector('dialog[open]')
  assert.deepEqual(await faultsOf(page), [], 'help')
  await page.keyboard.press('Escape')
  await page.keyboard.press('/')
  await page.keyboard.type('1001')
  await page.keyboard.press('Enter')
  await page.click('table a >> nth=0')
  await page.waitForSelector('.line')
  assert.match(await page.innerText('.note'), /The other side refused this message\. gone/)
  assert.deepEqual(await faultsOf(page), [], 'message')
  for (const path of [
    '/messages?find=1001',
    '/help',
    '/lane?name=1/site',
    '/lanes/change?lane=1/site',
    '/lanes/cancel?lane=1/site&activity=8',
    '/push',
    '/devices?brand=1&user=1001',
    '/person?brand=1&user=h1',
    '/conversions',
    '/reconciliation',
  ]) {
    await page.goto(`${platform}/console${path}`)
    assert.deepEqual(await faultsOf(page), [], path)
  }
})

test('a live page shows a change by itself, unless it is paused, and keeps what the reader opened', {
  skip,
}, async (t) => {
  const { platform } = await sidesAtWork(t)
  const proxy = await tcpProxy(t, platform)
  const page = await open(t, proxy.url, { colorScheme: 'dark', timezoneId: 'Asia/Tokyo' })
  // The network is slow: the extension for live parts comes after the end of the document.
  await page.route('**/hx-sse.js*', async (route) => {
    await sleep(300)
    await route.continue()
  })
  await page.reload()
  await page.click('#table-hour summary')
  // The new row comes before this one.
  await page.focus('tbody a:has-text("2/push")')
  await post(`${platform}/admin/lanes/pause`, { lane: '1/push', reason: 'seen at once' }, anna.key)
  await page.waitForSelector('text=seen at once')
  assert.equal(await page.evaluate('document.activeElement.textContent'), '2/push', 'the focus stays on its lane')
  assert.equal(await page.locator('#table-hour[open]').count(), 1)
  assert.equal(await page.locator('h1 + dl a[href$="/console/failed"]').count(), 1)
  assert.match(await page.locator('time').first().innerText(), /\(\d\d:\d\d:\d\d UTC\)/)
  assert.deepEqual(await faultsOf(page), [], 'dark')
  proxy.cut()
  await page.waitForSelector('text=No connection: trying again')
  assert.equal(await page.locator('#live[data-lost]').count(), 1)
  proxy.restore()
  await page.waitForSelector('text=Live: pause')
  await page.keyboard.press('p')
  await page.waitForSelector('text=Paused: continue')
  assert.equal(await page.locator('[hx-sse\\:connect]').count(), 0)

  await page.goto(`${platform}/console/lanes/pause?lane=1/push&activity=9`)
  await page.fill('textarea', 'wrong text')
  await page.click('button.primary')
  await page.waitForSelector('.note.good:focus')
  assert.doesNotMatch(page.url(), /did=|count=/, 'a shared address tells of no act')
  await page.keyboard.press('Tab')
  assert.ok(await page.evaluate("document.activeElement.closest('main')"), 'the effect of an act has the focus')
  await page.keyboard.press('?')
  await page.uncheck('text=Use these keys')
  await page.keyboard.press('Escape')
  await page.keyboard.press('/')
  assert.equal(await page.evaluate('document.activeElement.id'), '', 'keys can be switched off')
})

test('a live page whose first connection fails says so and connects again; one whose session ended in between leads to the sign-in', {
  skip,
}, async (t) => {
  const { platform } = await sidesAtWork(t)
  const proxy = await tcpProxy(t, platform)
  const page = await open(t, proxy.url)
  let failing = true
  await page.route('**/console/lanes*', (route) =>
    failing && route.request().headers().accept?.includes('event-stream') ? route.abort() : route.continue(),
  )
  await page.goto(`${proxy.url}/console/lanes`)
  await page.waitForSelector('text=No connection: trying again')
  failing = false
  await post(`${platform}/admin/lanes/pause`, { lane: '1/push', reason: 'seen in the end' }, anna.key)
  await page.waitForSelector('text=seen in the end')
  assert.equal(await page.locator('[data-lost]').count(), 0)

  await page.clock.install()
  await page.reload()
  await page.waitForSelector('text=seen in the end')
  const isLost = () => page.locator('[data-lost]').count()
  await page.evaluate(
    "new Promise((resolve) => document.addEventListener('htmx:sse:before:message', () => resolve(), { once: true }))",
  )
  proxy.freeze()
  await page.clock.fastForward(39_000)
  assert.equal(await isLost(), 0)
  await page.clock.fastForward(2_000)
  assert.equal(await isLost(), 1, 'a connection that hangs is lost')
  proxy.restore()
  await page.waitForSelector('text=Live: pause')

  proxy.cut()
  await page.waitForSelector('text=No connection: trying again')
  // The same browser signs out in another tab.
  const other = await page.context().newPage()
  await other.goto(`${platform}/console/help`)
  await other.click('form.person button')
  await other.waitForSelector('#key')
  proxy.restore()
  await page.waitForURL(/\/console\/sign-in/)
})

test('an act whose button is clicked twice is sent once, and again after a return to its page', { skip }, async (t) => {
  const { platform } = await sidesAtWork(t)
  const page = await open(t, platform)
  await page.goto(`${platform}/console/lanes/pause?lane=1/push`)
  await page.fill('textarea', 'the text is wrong')
  const sent = await page.evaluate(`(() => {
    let sent = 0
    addEventListener('submit', (event) => {
      if (!event.defaultPrevented) sent++
      event.preventDefault()
    })
    const click = () => {
      document.querySelector('.ask button').click()
      return sent
    }
    return [click(), click(), dispatchEvent(new Event('pageshow')) && click()]
  })()`)
  assert.deepEqual(sent, [1, 1, 2])
})

test('people sign in at an OpenID provider of another site, and have their own names and scopes', {
  skip,
}, async (t) => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const issuer = await startOidcProvider(t, `${url}/console/sign-in/done`)
  const people = [{ name: 'anna@example.com', scopes: ['counts', 'read'] }] as const
  const oidc = { issuer, ...oidcClient, claim: 'email' }
  await startOperator(t, { console: { people, oidc } as never, listen: { port } })
  const context = await (browser as Browser).newContext()
  t.after(() => context.close())
  const page = await context.newPage()
  const signInAs = async (name: string): Promise<string> => {
    await context.clearCookies()
    await page.goto(`${url}/console/devices?brand=1&user=1001`)
    await page.click('text=Sign in with localhost')
    await page.fill('input[name=login]', name)
    await page.fill('input[name=password]', 'any')
    await page.click('button[type=submit]')
    await page.click('button[type=submit]')
    await page.waitForURL(/\/console\/devices|\/sign-in\/done/)
    await page.waitForLoadState()
    return page.innerText('body')
  }
  assert.match(await signInAs('anna'), /anna@example\.com[\s\S]*This user has no device/)
  const { entries } = (await get(`${url}/admin/audit?act=devices.list`)).body
  assert.equal(entries[0].by, 'anna@example.com')
  assert.match(await signInAs('eve'), /eve@example\.com may not use this console/)
  assert.match(await signInAs('unverified'), /has not verified your mail address/)
  const forged = await fetch(`${url}/console/sign-in/done?code=x&state=y`)
  assert.equal(forged.status, 403)
  assert.match(await forged.text(), /began in another browser/)
})
