// The widget in real browsers, against a real operator.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import test, { type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { reportingPlatform, ways } from '../support/reporting-sides.ts'
import { until } from '../support/wait.ts'
import { excludedUser, type InboxSite, startInboxSite } from './inbox-site.ts'

export interface BrowserFixture {
  readonly name: string
  readonly skip: string | false
  /** Opens a context of its own, which shares no storage with that of another test. It ends with the test. */
  open(t: TestContext): Promise<{ newPage(url: string): Promise<Page> }>
}

export interface Page {
  /** Evaluates a JavaScript expression in the page. */
  evaluate<T>(expression: string): Promise<T>
  press(key: string): Promise<void>
  close(): Promise<void>
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const widget = `document.querySelector('bellwire-inbox')`
const root = `${widget}.shadowRoot`
const patient = { withinMs: 30_000 }

type Suite = (title: string, run: (t: TestContext, site: InboxSite, newPage: OpenPage) => Promise<void>) => void

const suiteOf =
  ({ name, skip, open }: BrowserFixture): Suite =>
  (title, run) => {
    test(`${name}: ${title}`, { skip, timeout: 120_000 }, async (t) => {
      const site = await startInboxSite(t)
      const browser = await open(t)
      await run(t, site, async (query = '') => {
        const page = await browser.newPage(`${site.url}/?${query}`)
        await eventually(page, `${widget}?.shadowRoot?.querySelector('.panel') !== null`, 'the widget is shown')
        return page
      })
    })
  }

export function widgetSuite(fixture: BrowserFixture): void {
  const { name, skip, open } = fixture
  const suite = suiteOf(fixture)

  suite('a notification arrives, is read and its link clicked, and the operator stores both', async (_, site, newPage) => {
    const page = await newPage()
    await eventually(page, `${root}.querySelector('.notice') !== null`, 'the inbox is empty')
    const ref = await site.send({ title: 'Hello', body: 'There', url: '#there', image_url: `${site.url}/picture.svg` })
    await eventually(page, `${root}.querySelector('.badge')?.textContent === '1'`, 'the bell counts it')
    await page.evaluate(`${root}.querySelector('.bell').click()`)
    await untilShown(page, [ref])
    await until(async () => (await storedOne(site, ref))?.seen_at, {
      ...patient,
      awaited: 'the operator has it as seen',
    })
    assert.equal((await storedOne(site, ref))?.read_at, null)
    await eventually(page, `${root}.querySelector('.image img')?.naturalWidth > 0`, 'the image is shown')
    await page.evaluate(`${root}.querySelector('.link').click()`)
    await until(async () => (await storedOne(site, ref))?.clicked_at, {
      ...patient,
      awaited: 'the operator has it as clicked',
    })
    await eventually(page, `${root}.querySelector('.badge') === null`, 'the bell shows no count')
    await eventually(page, `location.hash === '#there'`, 'the page of the link is open')
  })

  for (const way of ways)
    test(`${name}: a click in the widget is shown at the platform ${way}, with the meta of the message`, {
      skip,
      timeout: 120_000,
    }, async (t) => {
      const platform = await reportingPlatform(t, way)
      const site = await startInboxSite(t, platform.operator)
      const page = await (await open(t)).newPage(`${site.url}/?`)
      const activity = '{ "id": 7001, "brand_id":1,"user_id":"1001","x":1e3 }'
      const record = `{"title":"Hello","url":"#there","meta": {"campaign": 1.0},"activity":${activity}}`
      await platform.enqueue(record, 'site')
      await eventually(page, `${root}?.querySelector('.badge')?.textContent === '1'`, 'the bell counts it')
      await page.evaluate(`${root}.querySelector('.bell').click()`)
      await page.evaluate(`${root}.querySelector('.link').click()`)
      const details = await platform.waitUntil(7001, ({ status }) => status === 'clicked', 'the platform has the click')
      const { meta } = details.statuses.find(({ status }: { status: string }) => status === 'clicked')
      assert.ok(meta.includes(`"activity":${activity}`), meta)
      assert.ok(meta.endsWith(',"meta":{"campaign": 1.0}}'), meta)
    })

  suite('all tabs of a user share one stream, and a mark in one tab shows in the others', async (_, site, newPage) => {
    const first = await newPage()
    await until(() => site.streams.open === 1, { ...patient, awaited: 'the first tab has the stream' })
    const [second, third] = [await newPage(), await newPage('view=list')]
    const refs = [await site.send({ title: 'One' }), await site.send({ title: 'Two' })]
    for (const page of [first, second, third]) await untilShown(page, refs)
    assert.equal(site.streams.most, 1)

    await second.evaluate(`${root}.querySelector('[data-id="${refs[0]}"] .link').click()`)
    for (const page of [first, second, third])
      await eventually(page, `${root}.querySelectorAll('.item.unread').length === 1`, 'one notification is read')

    // Another user on the same site has a stream of her own.
    const other = await newPage('user=2002')
    await until(() => site.streams.open === 2, { ...patient, awaited: 'the other user has a stream' })
    const secret = await site.send({ title: 'For the other user' }, '2002')
    await untilShown(other, [secret])
    assert.deepEqual((await shown(second)).toSorted(), refs.toSorted())
    await other.close()

    // The next tab takes the stream over, without a gap.
    const sent = [...refs]
    const sending = (async () => {
      for (let i = 0; i < 20; i++) sent.push(await site.send({ title: `During the change ${i}` }))
    })()
    await first.close()
    await sending
    for (const page of [second, third]) await untilShown(page, sent)
    await until(() => site.streams.open === 1, { ...patient, awaited: 'one stream is open' })
    await third.close()
    await second.close()
    await until(() => site.streams.open === 0, { ...patient, awaited: 'no stream is open' })
  })

  suite('when a token expires, the stream ends and continues with a new one; after a sign-out it does not', async (_, site, newPage) => {
    site.tokenSeconds = 2
    const page = await newPage()
    const sent: string[] = []
    const notices = watchTexts(page)
    await notices.start()
    await until(
      async () => {
        sent.push(await site.send({ title: `Number ${sent.length}` }))
        await sleep(100)
        return site.streams.opened >= 3
      },
      { ...patient, awaited: 'two tokens have expired' },
    )
    assert.ok(site.tokens >= 3)
    await untilShown(page, sent)
    assert.deepEqual(await notices.seen(), [], 'the page never said that there is no connection')
    site.tokenSeconds = 0
    await eventually(page, `${root}.querySelectorAll('.item').length === 0`, 'the notifications are not shown any more')
    await until(() => site.streams.open === 0, { ...patient, awaited: 'the stream is closed' })
  })

  suite('after another user signs in, only her notifications are shown and marked', async (_, site, newPage) => {
    const secret = await site.send({ title: 'For the first user' })
    const hers: string[] = []
    // More than the first user has: her position is none that the operator refuses.
    for (let i = 0; i < 5; i++) hers.push(await site.send({ title: 'For the second user' }, '2002'))
    site.tokenSeconds = 2
    const page = await newPage('view=list')
    await page.evaluate(`import('/widget.js').then(({ createInbox }) => {
      const { url } = ${widget}
      window.client = createInbox({ url, getToken: async () => (await (await fetch('/token', { method: 'POST' })).json()).token })
      client.start()
    })`)
    await untilShown(page, [secret])
    await eventually(page, 'client.state.items.length === 1', 'the client has the list')
    await page.evaluate('client.stop()')
    site.signedIn = '2002'
    site.tokenSeconds = 600
    await untilShown(page, hers)
    await until(async () => (await site.stored('2002'))[0]?.seen_at, { ...patient, awaited: 'it is marked as seen' })
    hers.push(await site.send({ title: 'For the second user, too' }, '2002'))
    await untilShown(page, hers)
    await site.send({ title: 'For the first user, too' })
    assert.equal((await site.stored())[0]?.seen_at, null)
    // A client that starts again, without a connection.
    site.proxy.freeze()
    await page.evaluate('client.start()')
    await eventually(page, 'client.state.items.length === 0', 'the list of the first user is removed')
  })

  suite('a click in a second tab is stored although its link leaves the page, also after the first token has expired', async (_, site, newPage) => {
    const ref = await site.send({ title: 'Away', url: '/?elsewhere' })
    await newPage()
    site.tokenSeconds = 3
    const page = await newPage()
    await untilShown(page, [ref])
    const receivedMs = await page.evaluate<number>('performance.now()')
    site.tokenSeconds = 600
    await eventually(page, `performance.now() > ${receivedMs + 3_000}`, 'the token has expired')
    // The page is left before the answer to a request for a token.
    site.tokenSeconds = 0
    await page.evaluate(`${root}.querySelector('.link').click()`)
    await until(async () => (await storedOne(site, ref))?.clicked_at, { ...patient, awaited: 'the click is stored' })
  })

  suite('an element that is not in the page has no stream, and marks nothing as seen', async (_, site, newPage) => {
    const page = await newPage()
    await until(() => site.streams.open === 1, { ...patient, awaited: 'the element in the page has a stream' })
    // Without its interval, only the browser's events update the element.
    await page.evaluate(`(() => {
      const { url, tokenUrl } = ${widget}
      window.setInterval = () => 0
      const brief = Object.assign(document.createElement('bellwire-inbox'), { url, tokenUrl: '/token?user=2002' })
      document.body.append(brief)
      brief.remove()
      window.bell = ${widget}
      bell.shadowRoot.querySelector('.bell').click()
    })()`)
    await eventually(page, `${root}.querySelector('.bell').ariaExpanded === 'true'`, 'the panel is open')
    await page.evaluate(`bell.remove()`)
    await until(() => site.streams.open === 0, { ...patient, awaited: 'its stream has ended' })
    await page.evaluate(`bell.tokenUrl += '&again'`)
    await page.evaluate(`document.body.append(bell)`)
    const ref = await site.send({ title: 'While the panel is closed' })
    await untilShown(page, [ref])
    await page.evaluate(`${widget}.updateComplete`)
    assert.equal(await page.evaluate(`${root}.querySelector('.bell').ariaExpanded`), 'false')
    await until(() => site.streams.open === 1, { ...patient, awaited: 'its stream is open again' })
    assert.equal(site.streams.opened, 2)

    // Nor does a panel that was open as the bell became a list.
    await page.evaluate(`${root}.querySelector('.bell').click()`)
    await eventually(page, `${root}.querySelector('.bell').ariaExpanded === 'true'`, 'the panel is open')
    for (const view of ['list', 'bell']) {
      await page.evaluate(`bell.view = '${view}'`)
      await page.evaluate(`bell.updateComplete`)
    }
    assert.equal(await page.evaluate(`${root}.querySelector('.bell').ariaExpanded`), 'false')

    // Nor does a list whose page is in the background.
    const show = (state: string): Promise<unknown> =>
      page.evaluate(`(() => {
        Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true })
        document.dispatchEvent(new Event('visibilitychange'))
      })()`)
    await show('hidden')
    await page.evaluate(`bell.view = 'list'`)
    const later = await site.send({ title: 'In the background' })
    await untilShown(page, [ref, later])
    assert.equal((await storedOne(site, later))?.seen_at, null)
    await show('visible')
    await until(async () => (await storedOne(site, later))?.seen_at, { ...patient, awaited: 'the user has seen it' })
  })

  suite('the panel is in the window, and follows a bell that scrolls', async (_, site, newPage) => {
    const page = await newPage()
    await untilShown(page, [await site.send({ title: 'Hello' })])
    const box = (selector: string): Promise<{ top: number; bottom: number }> =>
      page.evaluate(`${root}.querySelector('${selector}').getBoundingClientRect().toJSON()`)
    await page.evaluate(`${widget}.style.cssText = 'position: fixed; bottom: 10px; left: 10px'`)
    await page.evaluate(`${root}.querySelector('.bell').click()`)
    await eventually(page, `${root}.querySelector('.bell').ariaExpanded === 'true'`, 'the panel is open')
    const [bell, panel] = [await box('.bell'), await box('.panel')]
    assert.ok(panel.top >= 0 && panel.bottom <= bell.top, JSON.stringify({ bell, panel }))

    await page.evaluate(`(() => {
      const area = document.createElement('div')
      area.style.cssText = 'height: 200px; overflow: auto'
      area.innerHTML = '<div style="height: 100px"></div><div style="height: 900px" id="inner"></div>'
      document.body.append(area)
      ${widget}.style.cssText = ''
      area.lastChild.append(${widget})
      window.area = area
    })()`)
    await eventually(page, `${root}.querySelector('.bell').ariaExpanded === 'false'`, 'the panel is closed')
    await page.evaluate(`${root}.querySelector('.bell').click()`)
    await eventually(page, `${root}.querySelector('.bell').ariaExpanded === 'true'`, 'the panel is open')
    await page.evaluate(`area.scrollTop = 60`)
    const gap = `${root}.querySelector('.panel').getBoundingClientRect().top - ${root}.querySelector('.bell').getBoundingClientRect().bottom`
    await eventually(page, `Math.round(${gap}) === 10`, 'the panel has followed')
  })

  suite('a route that answers a page instead of a token is named in the console', async (_, _site, newPage) => {
    const page = await newPage()
    await page.evaluate(`(() => {
      console.warn = (text) => { window.warned = text }
      ${widget}.tokenUrl = '/sign-in'
    })()`)
    await eventually(page, `window.warned !== undefined`, 'a warning is shown')
    assert.equal(
      await page.evaluate('window.warned'),
      'bellwire-inbox: token-url /sign-in did not answer {"token": …}: answer 401 if nobody is signed in, not a page',
    )
  })

  suite('without a connection the page says so, and afterwards every tab has each notification once', async (_, site, newPage) => {
    const [first, second] = [await newPage(), await newPage()]
    const sent = [await site.send({ title: 'Before' })]
    for (const page of [first, second]) await untilShown(page, sent)
    site.proxy.cut()
    for (const page of [first, second])
      await eventually(page, `${root}.querySelector('.banner') !== null`, 'the tab says that it is offline')
    for (let i = 0; i < 3; i++) sent.push(await site.send({ title: `Meanwhile ${i}` }))
    // A mark without a connection is taken back.
    await first.evaluate(`${root}.querySelector('.link').click()`)
    await eventually(
      first,
      `${root}.querySelector('[role=status]').textContent.includes('not saved')`,
      'the mark failed',
    )
    await eventually(first, `${root}.querySelectorAll('.item.unread').length === 1`, 'it is unread again')
    site.proxy.restore()
    for (const page of [first, second]) {
      await untilShown(page, sent)
      await eventually(page, `${root}.querySelector('.banner') === null`, 'the tab is online')
    }
    assert.equal(site.streams.most, 1)
  })

  suite('a stream that is cut continues, and the page does not say that there is no connection', async (_, site, newPage) => {
    const page = await newPage()
    await until(() => site.streams.open === 1, { ...patient, awaited: 'the stream is open' })
    const sent = [await site.send({ title: 'Before' })]
    await untilShown(page, sent)
    const notices = watchTexts(page)
    await notices.start()
    site.proxy.reset()
    sent.push(await site.send({ title: 'Meanwhile' }))
    await untilShown(page, sent)
    assert.equal(site.streams.opened, 2)
    assert.deepEqual(await notices.seen(), [])
  })

  suite('a mark that the operator refuses for a moment is sent again', async (_, site, newPage) => {
    const page = await newPage('view=list')
    const ref = await site.send({ title: 'Hello' })
    await untilShown(page, [ref])
    await page.evaluate(`(() => {
      const real = fetch
      window.statuses = [429, 503]
      window.fetch = (input, init) =>
        statuses.length > 0 && init.body?.includes('"read"')
          ? Promise.resolve(Response.json({ error: 'busy' }, { status: statuses.shift() }))
          : real(input, init)
    })()`)
    await page.evaluate(`${root}.querySelector('.link').click()`)
    await until(async () => (await storedOne(site, ref))?.read_at, { ...patient, awaited: 'it is read' })
    assert.equal(await page.evaluate('statuses.length'), 0)
  })

  suite('after marks that failed together, the bell counts each notification', async (_, site, newPage) => {
    const page = await newPage('view=list')
    await untilShown(page, [await site.send({ title: 'One' }), await site.send({ title: 'Two' })])
    await until(async () => (await site.stored()).every((item) => item.seen_at), {
      ...patient,
      awaited: 'both are seen',
    })
    site.proxy.cut()
    await eventually(page, `${root}.querySelector('.banner') !== null`, 'the tab says that it is offline')
    await page.evaluate(`${root}.querySelectorAll('.link').forEach((link) => link.click())`)
    await eventually(page, `${root}.querySelectorAll('.item.unread').length === 2`, 'both are unread again')
    site.proxy.restore()
    await eventually(page, `${root}.querySelector('.banner') === null`, 'the tab is online')
    await page.evaluate(`${widget}.view = 'bell'`)
    await eventually(page, `${root}.querySelector('.badge')?.textContent === '2'`, 'both are counted')
  })

  suite('a tab that missed more than the stream repeats fetches the list again', async (_, site, newPage) => {
    const [first, second] = [await newPage(), await newPage()]
    await untilShown(first, [await site.send({ title: 'Before' })])
    site.proxy.cut()
    await eventually(first, `${root}.querySelector('.banner') !== null`, 'the tab says that it is offline')
    await site.sendMany(505)
    site.proxy.restore()
    const newest = (await site.stored()).slice(0, 25).map((item) => item.site_notification_id as string)
    for (const page of [first, second]) await untilShown(page, newest)
    await eventually(first, `${root}.querySelector('.badge').textContent === '99+'`, 'the count is complete')
    await first.evaluate(`${root}.querySelector('.older').click()`)
    await eventually(first, `${root}.querySelectorAll('.item').length === 50`, 'older notifications are shown')
  })

  suite('a `javascript:` link and HTML in texts have no effect', async (_, site, newPage) => {
    await assert.rejects(site.send({ title: 'Link', url: 'javascript:attack()' }), /scheme javascript:/)
    const attack = '<img src=x onerror="window.attacked = true"><script>window.attacked = true</script>'
    const ref = await site.send({ title: attack, body: attack })
    // The page gets such links nevertheless.
    const page = await newPage('view=list&attack=javascript:window.attacked=true')
    await untilShown(page, [ref])
    assert.equal(await page.evaluate(`${root}.querySelector('.item-title').textContent`), attack)
    assert.equal(await page.evaluate(`${root}.querySelectorAll('.item a, .item img, .item script').length`), 0)
    await page.evaluate(`${root}.querySelector('.link').click()`)
    await until(async () => (await storedOne(site, ref))?.read_at, { ...patient, awaited: 'it is read' })
    assert.equal((await storedOne(site, ref))?.clicked_at, null)
    assert.equal(await page.evaluate('window.attacked === undefined'), true)
  })

  suite('a strict content security policy allows the widget, with images in their addresses', async (_, site, newPage) => {
    const image_url = 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"/>'
    const ref = await site.send({ title: '\u200b ', body: 'Text', image_url })
    const page = await newPage('view=list&policy')
    await untilShown(page, [ref])
    await eventually(page, `${root}.querySelector('.image img')?.naturalWidth === 8`, 'the image is shown')
    assert.equal(await page.evaluate(`getComputedStyle(${root}.querySelector('.item')).display`), 'flex')
    // A title without visible characters is none.
    assert.equal(await page.evaluate(`${root}.querySelector('.item-title').textContent`), 'Text')
    assert.equal(await page.evaluate(`${root}.querySelector('.item-body')`), null)
    assert.equal(await page.evaluate(`${root}.querySelector('.dismiss').ariaLabel`), 'Remove: Text')
  })

  suite('everything can be done with the keyboard', async (_, site, newPage) => {
    const page = await newPage()
    const refs = [
      await site.send({ title: 'One' }),
      await site.send({ title: 'Two' }),
      await site.send({ title: 'Three' }),
    ]
    await untilShown(page, refs)
    assert.equal(await page.evaluate(`${root}.querySelector('.bell').ariaLabel`), 'Notifications, 3 unread')
    await page.press('Tab')
    assert.equal(await focused(page), 'bell')
    await page.press('Enter')
    await eventually(page, `${root}.querySelector('.panel').matches(':popover-open')`, 'the panel is open')
    await eventually(page, `${root}.activeElement?.className === 'panel'`, 'the panel has the focus')
    await page.press('Tab')
    assert.equal(await focused(page), 'quiet')
    await page.press('Tab')
    assert.equal(await focused(page), 'icon-button')
    await page.press('Tab')
    assert.equal(await focused(page), 'link')
    await page.press('ArrowDown')
    assert.equal(await focusedRow(page), refs[1])
    await page.press('End')
    assert.equal(await focusedRow(page), refs[0])
    await page.press('Home')
    assert.equal(await focusedRow(page), refs[2])
    await page.press('Delete')
    await untilShown(page, refs.slice(0, 2))
    assert.equal(await focusedRow(page), refs[1])
    await page.press('Enter')
    await until(async () => (await storedOne(site, refs[1] as string))?.read_at, { ...patient, awaited: 'it is read' })
    await page.press('Escape')
    await eventually(page, `!${root}.querySelector('.panel').matches(':popover-open')`, 'the panel is closed')
    await until(async () => (await focused(page)) === 'bell', { ...patient, awaited: 'the bell has the focus again' })
    assert.deepEqual(
      (await site.stored()).map((item) => item.site_notification_id),
      [refs[1], refs[0]],
    )
  })

  suite('a notification disappears when it expires, and is not counted any more, also if the clock of the device is a day fast', async (_, site, newPage) => {
    const page = await newPage('clock=86400000')
    const stays = await site.send({ title: 'Stays' })
    const expires = await site.send({ title: 'Expires', expires_at: new Date(Date.now() + 4_000).toISOString() })
    await untilShown(page, [stays, expires])
    await eventually(page, `${root}.querySelector('.badge').textContent === '2'`, 'both are counted')
    await untilShown(page, [stays])
    await eventually(page, `${root}.querySelector('.badge').textContent === '1'`, 'one is counted')
  })

  suite('two notifications with the same title are both announced', async (_, site, newPage) => {
    const page = await newPage()
    const announced = `${root}.querySelector('[role=status]').textContent`
    await eventually(page, `${root}.querySelector('.notice') !== null`, 'the inbox is empty')
    await page.evaluate(`(() => {
      window.changes = 0
      new MutationObserver(() => changes++).observe(${root}.querySelector('[role=status]'), { subtree: true, characterData: true, childList: true })
    })()`)
    for (const times of [1, 2]) {
      await site.send({ title: 'A bonus' })
      await eventually(page, `${root}.querySelectorAll('.item').length === ${times}`, 'it is shown')
      assert.equal(await page.evaluate(`${announced}.trim()`), 'New notification: A bonus')
      assert.equal(await page.evaluate('changes'), times)
    }
  })

  suite('texts are translated, and from right to left the panel opens at the left', async (_, site, newPage) => {
    const page = await newPage('lang=ar&dir=rtl')
    await untilShown(page, [await site.send({ title: 'مرحبا' })])
    await page.evaluate(`${widget}.texts = { title: 'الإشعارات', bell: (n) => 'غير مقروء: ' + n }`)
    await eventually(page, `${root}.querySelector('.bell').ariaLabel === 'غير مقروء: 1'`, 'the name is translated')
    await page.evaluate(`${root}.querySelector('.bell').click()`)
    assert.equal(await page.evaluate(`${root}.querySelector('.title').textContent`), 'الإشعارات')
    const [bell, panel] = await page.evaluate<[number, number]>(
      `['.bell', '.panel'].map((each) => Math.round(${root}.querySelector(each).getBoundingClientRect().left))`,
    )
    assert.equal(panel, Math.max(bell, 8))
    assert.match(await page.evaluate(`${root}.querySelector('.time').textContent`), /الآن|دقيقة/)
    // Not all pages name their language as HTML demands.
    for (const [lang, expected] of [
      ['de_AT', /jetzt|Minute/],
      ['C.UTF-8', /now|min/],
    ] as const) {
      await page.evaluate(`document.documentElement.lang = '${lang}'`)
      await page.evaluate(`${widget}.requestUpdate()`)
      await page.evaluate(`${widget}.updateComplete`)
      assert.match(await page.evaluate(`${root}.querySelector('.time').textContent`), expected)
    }
  })
}

/** axe judges elements, names and colours, which are the same in every browser. One browser runs it. */
export function accessibilitySuite(fixture: BrowserFixture): void {
  suiteOf(fixture)('axe finds nothing in any state, light and dark', async (_, site, newPage) => {
    const closed = await newPage(`user=${excludedUser}&view=list`)
    await eventually(closed, `${root}.querySelector('[part=closed]') !== null`, 'the inbox is closed')
    await audit(closed, 'closed')
    const page = await newPage()
    await eventually(page, `${root}.querySelector('[part=empty]') !== null`, 'the inbox is empty')
    await page.evaluate(`${root}.querySelector('.bell').click()`)
    await audit(page, 'empty')
    await page.press('Escape')
    await site.send({ title: 'Read', body: 'Before', url: '/read' })
    await eventually(page, `${root}.querySelector('.item') !== null`, 'it is shown')
    await page.evaluate(`${root}.querySelector('.quiet').click()`)
    await eventually(page, `${root}.querySelector('.item:not(.unread)') !== null`, 'it is read')
    await site.send({ title: 'Unread', image_url: `${site.url}/picture.svg` })
    await eventually(page, `${root}.querySelectorAll('.item').length === 2`, 'both are shown')
    await audit(page, 'bell with count')
    await page.evaluate(`${root}.querySelector('.bell').click()`)
    await audit(page, 'list')
    const list = await newPage('view=list&dir=rtl')
    await eventually(list, `${root}.querySelectorAll('.item').length === 2`, 'the list is shown')
    await audit(list, 'list in the page, right to left')
    site.proxy.cut()
    await eventually(page, `${root}.querySelector('.banner') !== null`, 'the tab is offline')
    await audit(page, 'offline')
    const unlisted = await newPage('view=list')
    await eventually(unlisted, `${root}.querySelector('[part=offline]') !== null`, 'nothing could be fetched')
    await audit(unlisted, 'offline without a list')
    site.proxy.freeze()
    const loading = await newPage('view=list')
    await eventually(loading, `${root}.querySelector('.skeleton') !== null`, 'it is loading')
    await audit(loading, 'loading')
  })
}

type OpenPage = (query?: string) => Promise<Page>

async function eventually(page: Page, condition: string, awaited: string): Promise<void> {
  await until(() => page.evaluate<boolean>(condition), { ...patient, awaited })
}

/** The site_notification_ids of the list, from top to bottom. */
function shown(page: Page): Promise<string[]> {
  return page.evaluate(`[...${root}.querySelectorAll('.item')].map((item) => item.dataset.id)`)
}

/** Waits until the page shows exactly these notifications, each once. */
async function untilShown(page: Page, refs: readonly string[]): Promise<void> {
  const expected = refs.toSorted().join()
  let last: string[] = []
  await until(
    async () => {
      last = await shown(page)
      return last.toSorted().join() === expected
    },
    { ...patient, awaited: 'these notifications are shown' },
  ).catch(() => assert.deepEqual(last.toSorted(), refs.toSorted()))
}

async function storedOne(site: InboxSite, ref: string): Promise<Record<string, unknown> | undefined> {
  return (await site.stored()).find((item) => item.site_notification_id === ref)
}

/** The first class of the focused element in the widget. */
function focused(page: Page): Promise<string> {
  return page.evaluate(`${root}.activeElement?.classList[0] ?? ''`)
}

function focusedRow(page: Page): Promise<string> {
  return page.evaluate(`${root}.activeElement?.closest('.item')?.dataset.id ?? ''`)
}

/** Collects the banners and notices that are shown from now on. */
function watchTexts(page: Page): { start(): Promise<void>; seen(): Promise<string[]> } {
  return {
    start: () =>
      page.evaluate(`(() => {
        window.seenTexts = []
        const look = () => { const text = ${root}.querySelector('.banner, [part=offline]')?.textContent; if (text) window.seenTexts.push(text) }
        new MutationObserver(look).observe(${root}, { subtree: true, childList: true })
      })()`),
    seen: () => page.evaluate('window.seenTexts'),
  }
}

async function audit(page: Page, state: string): Promise<void> {
  if (!(await page.evaluate(`'axe' in window`))) await page.evaluate(`${axe};0`)
  for (const scheme of ['light', 'dark']) {
    await page.evaluate(`document.documentElement.style.colorScheme = '${scheme}'`)
    // Animations change the contrast.
    await page.evaluate(
      `Promise.all(${root}.getAnimations().map((each) => each.effect.getTiming().iterations === Infinity ? 0 : each.finished)).then(() => 0)`,
    )
    const violations = await page.evaluate<{ id: string; nodes: string[] }[]>(
      `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html, failureSummary }) => html.slice(0, 200) + ' ' + failureSummary) })))`,
    )
    assert.deepEqual(violations, [], `${scheme}, ${state}`)
  }
}
