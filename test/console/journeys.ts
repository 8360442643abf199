// What people do in the console, the same in each browser, with and without JavaScript.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { acts, pages } from '../../src/sides/console/pages.ts'
import { adminKey, element, get, post } from '../support/sides.ts'
import { until } from '../support/wait.ts'
import { anna, reader, sidesAtWork } from './at-work.ts'
import { signedIn } from './browse.ts'

/** A tab of a browser. */
export interface Tab {
  open(address: string): Promise<void>
  /** Clicks, and waits for the page that follows. @param selector CSS, or an XPath that begins with // */
  click(selector: string): Promise<void>
  fill(selector: string, value: string): Promise<void>
  /** The text of the page. */
  text(): Promise<string>
  /** How many elements match the CSS selector. */
  count(selector: string): Promise<number>
}

interface Journeys {
  /** @example 'Firefox' */
  readonly browser: string
  readonly skip: string | false
  /** Opens a tab with a session of its own. It is closed at the end of the test. */
  readonly newTab: (t: TestContext) => Promise<Tab>
}

/** The link or the button with this text. */
const named = (text: string): string => `//main//*[self::a or self::button][normalize-space()="${text}"]`

async function signIn(tab: Tab, url: string, key: string): Promise<void> {
  await tab.open(`${url}/console`)
  await tab.fill('#key', key)
  await tab.click('button.primary')
}

async function act(tab: Tab, button: string, field: string, reason: string): Promise<string> {
  await tab.click(named(button))
  await tab.fill(`textarea[name=${field}]`, reason)
  await tab.click('button.primary')
  return tab.text()
}

export function journeys({ browser, skip, newTab }: Journeys): void {
  test(`${browser}: a person finds why a message failed, replays by a filter, pauses a lane and tries a held one; a key that reads can do nothing`, {
    skip,
  }, async (t) => {
    const { platform } = await sidesAtWork(t, { refused: 0, plain: true })
    const refused = (count: number, activity: number) =>
      Array.from({ length: count }, (_, i) => element({ user_id: `14${i}`, activity_id: activity }))
    await post(`${platform}/admin/activities/site`, [...refused(50, 20), ...refused(150, 21)], adminKey.key)
    const pending = async (activity: number): Promise<number> =>
      (await get(`${platform}/admin/failed/summary?lane=1/site&activity=${activity}`)).body.groups[0]?.pending ?? 0
    await until(async () => (await pending(20)) + (await pending(21)) === 200, { awaited: 'all have failed' })
    const tab = await newTab(t)
    await signIn(tab, platform, anna.key)

    await t.test('three clicks lead from the overview to the reason', async () => {
      assert.match(await tab.text(), /2\/push\s+held/)
      await tab.click('nav a[data-letter=m]')
      await tab.fill('main input[name=find]', '1001')
      await tab.click('main form button.primary')
      await tab.click('tbody a')
      assert.match(await tab.text(), /The other side refused this message\.\s+gone/)
    })
    await t.test('50 of 200 Failed Actions are replayed by a filter', async () => {
      // So that the replayed items do not fail again.
      await post(`${platform}/admin/lanes/pause`, { lane: '1/site', reason: 'test' }, adminKey.key)
      await tab.click('nav a[data-letter=f]')
      assert.match(await tab.text(), /201 items wait for a decision/)
      await tab.fill('main input[name=activity]', '20')
      await tab.click('main form.filter button.primary')
      assert.match(await act(tab, 'Replay all that match', 'note', 'corrected'), /50 items replayed\./)
      assert.deepEqual([await pending(20), await pending(21)], [0, 150])
    })
    await t.test('a lane is paused, and its page says by whom and why', async () => {
      await tab.click('nav a[data-letter=l]')
      await tab.click('//main//a[normalize-space()="1/push"]')
      await act(tab, 'Pause', 'reason', 'the text is wrong')
      assert.match(await tab.text(), /Paused\. 0 messages are held back now\.[\s\S]*anna[\s\S]*the text is wrong/)
    })
    await t.test('a held lane is tried at once', async () => {
      await tab.click('nav a[data-letter=l]')
      await tab.click('//main//a[normalize-space()="2/push"]')
      assert.match(await act(tab, 'Try now', 'reason', 'they are back'), /tries its next message now/)
    })
    await t.test('a key that only reads is offered no act, and is refused each', async () => {
      const offered = acts.map(({ path }) => `main a[href^="/console${path}"]`).join()
      await tab.click('form.person button')
      await signIn(tab, platform, reader.key)
      for (const path of ['', '/lane?name=2/push', '/lane?name=1/push', '/failed?lane=1/site', '/push', '/settings']) {
        await tab.open(`${platform}/console${path}`)
        assert.equal(await tab.count(`main form[method=post], main [formaction], ${offered}`), 0, path)
      }
      await tab.open(`${platform}/console/lanes/pause?lane=1/push`)
      assert.match(await tab.text(), /Not allowed[\s\S]*lacks the scope decide/)
    })
  })
}

const seenByOthers = [
  '/devices/restore',
  '/lanes/reset',
  '/person/erasure',
  '/push/confirm',
  '/reconciliation/acknowledge',
  '/reconciliation/correct',
  '/reconciliation/run',
  '/reconciliation/users',
  '/settings',
  '/settings/reload',
]

/** Every page and form, in a tab without JavaScript. */
export function withoutScript({ browser, skip, newTab }: Journeys): void {
  test(`${browser}: without JavaScript every page is readable, and every form has its button`, { skip }, async (t) => {
    const sides = await sidesAtWork(t)
    const tab = await newTab(t)
    const seen = new Set<string>()
    for (const url of Object.values(sides)) {
      await signIn(tab, url, adminKey.key)
      const client = await signedIn(url, adminKey.key)
      const message = url === sides.platform ? 'seq=1' : `ref=${await refOf(url)}`
      const parameters: Readonly<Record<string, string>> = {
        '/lane': `?name=${url === sides.platform ? '1/site' : '1/device-links'}`,
        '/message': `?${message}`,
        '/messages': '?find=1001',
        '/devices': '?brand=1&user=1001',
        '/person': '?brand=1&user=1001',
        '/person/export': '?brand=1&user=1001',
      }
      const asked: Readonly<Record<string, string>> = {
        '/failed/replay': '?reason=rejected',
        '/failed/dismiss': '?reason=rejected',
        '/lanes/cancel': '?lane=2/push&user=1002',
        '/lanes/resume': '?lane=1/site&activity=8',
        '/person/erase': '?brand=1&user=1001',
        '/devices/restore': '?brand=1&user=1001',
      }
      for (const { path } of [...pages.map(({ path }) => ({ path })), ...acts]) {
        const lane = path.startsWith('/lanes/') && !(path in asked) ? '?lane=2/push' : ''
        const address = `/console${path}${parameters[path] ?? asked[path] ?? lane}`
        // The other side has the page, or there is nothing to show. A browser takes twenty times as long to find out.
        if ((await client.look(address)).status !== 200) continue
        await tab.open(url + address)
        const text = await tab.text()
        assert.doesNotMatch(text, /Live: pause|All on this page/, `${path}: nothing is shown that needs a script`)
        // Nothing would change here.
        if ((await tab.count('form.ask:not(:has(button))')) > 0) continue
        assert.ok((await tab.count('main h1')) > 0, path)
        const unsendable = await tab.count('form:not(:has(button:not([formmethod=dialog]), input[type=search]))')
        assert.equal(unsendable, 0, `${path}: every form has a button, or is a search`)
        seen.add(path)
      }
    }
    // The tests of these pages read them and send their forms over HTTP: they need a list, an erasure or a configuration.
    const unseen = [...pages, ...acts].map(({ path }) => path).filter((path) => !seen.has(path))
    assert.deepEqual(unseen.toSorted(), seenByOthers)
  })
}

async function refOf(url: string): Promise<string> {
  return (await get(`${url}/admin/messages?brand=1&user_id=1001`)).body.messages[0].ref
}
