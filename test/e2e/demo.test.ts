import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import test from 'node:test'
import type { Page } from 'playwright-core'
import { withoutChromium } from '../support/services/chromium.ts'
import { startProxy } from './cuttable-proxy.ts'
import { startDemo } from './demo-child.ts'
import { eventually, idsOf, launch, openPage, post, waiting } from './demo-page.ts'

const skip = await withoutChromium()

test('demo --once sends the sample messages, prints their outcomes and removes its files', async (t) => {
  const demo = await startDemo(t, ['--once'])
  const code = await demo.exit
  assert.equal(code, 0, demo.output)
  assert.match(demo.output, /✓ 10 of 10 on-site notifications are in their inboxes/)
  assert.match(
    demo.output,
    /✓ 1 of 1 push for a phone that is offline waits at the push service until the phone is online/,
  )
  assert.match(demo.output, /✓ 6 of 6 pushes are on their devices, each once/)
  assert.match(demo.output, /✓ The phone of the user who has excluded herself stayed silent/)
  assert.match(demo.output, /✓ push +Theo Brandt .* on the Android phone and the laptop/)
  assert.match(demo.output, /… push +Aiko Tanaka .* waits at FCM for the Android phone, which is offline/)
  assert.match(demo.output, /Aiko Tanaka’s Android phone is back online\n.*✓ push +Aiko Tanaka .* on the Android phone/)
  assert.match(demo.output, /✓ 3 of 3 messages to a user who has excluded herself were refused, as expected/)
  assert.match(demo.output, /✓ 1 of 1 unreadable record was refused with its line number/)
  assert.match(demo.output, /Everything arrived as expected\./)
  assert.doesNotMatch(demo.output, new RegExp(String.fromCharCode(27)), 'no colours if the output is not a terminal')
  assert.deepEqual(await demo.leftovers(), [])
})

test('a port in use is an error with a remedy, without a stack trace', async (t) => {
  const other = createServer().listen(0, '127.0.0.1')
  t.after(() => other.close())
  await once(other, 'listening')
  const second = await startDemo(t, ['--port', String((other.address() as AddressInfo).port)])
  assert.equal(await second.exit, 2)
  assert.match(second.output, /port \d+ is in use: choose another with --port/)
  assert.doesNotMatch(second.output, /\n\s+at /)
})

test('the page of the demo shows the notifications of its user only, also after the connection breaks', {
  skip,
}, async (t) => {
  const demo = await startDemo(t, ['--port', '0'])
  const [, site = ''] = await demo.printed(/Page\s+(http:\/\/\S+)/)
  await demo.printed(/From now on a message every few seconds/)
  const { operator } = (await (await fetch(`${site}/demo/cast`)).json()) as { operator: string }
  const proxy = await startProxy(t, operator)
  const browser = await launch(t)
  const mara = await openPage(browser, `${site}/site#1/1001`, proxy.url)
  const jonas = await openPage(browser, `${site}/site#2/1001`)
  await Promise.all([mara, jonas].map(({ page }) => page.waitForSelector('#state[data-state="live"]', waiting)))

  await t.test('older notifications are listed', async () => {
    await mara.page.locator('#notes li').nth(1).waitFor(waiting)
    assert.match((await mara.page.textContent('#greeting')) ?? '', /Mara$/)
    assert.match((await jonas.page.textContent('#greeting')) ?? '', /Jonas$/)
  })

  await t.test(
    'the button sends a notification, which appears in the inbox and on the bell without a reload',
    async () => {
      const before = new Set(await mara.ids())
      await mara.page.click('#send')
      await eventually(async () => (await mara.ids()).some((id) => !before.has(id)))
      const fresh = (await mara.ids()).filter((id) => !before.has(id))
      assert.ok(fresh.length >= 1)
      // More may arrive at any time.
      await eventually(async () => Number(await mara.page.textContent('#bell .badge')) === (await mara.ids()).length)
      assert.match((await mara.page.getAttribute('#bell .bell', 'aria-label')) ?? '', /\d+ unread/)
    },
  )

  await t.test('after a broken connection there are no gaps and no duplicates', async () => {
    mara.expectFailures(true)
    proxy.cut()
    await mara.page.waitForSelector('#state[data-state="offline"]', waiting)
    const before = (await inbox(site, operator, '1', '1001')).length
    for (let sent = 0; sent < 3; sent++) await post(`${site}/demo/send`, { brand: '1', user_id: '1001' })
    await eventually(async () => (await inbox(site, operator, '1', '1001')).length >= before + 3)
    proxy.restore()
    await mara.page.waitForSelector('#state[data-state="live"]', waiting)
    mara.expectFailures(false)
    await eventually(async () => {
      const [shown, stored] = [await mara.ids(), await inbox(site, operator, '1', '1001')]
      return (
        new Set(shown).size === shown.length &&
        shown.length === stored.length &&
        stored.every((id) => shown.includes(id))
      )
    })
  })

  await t.test('the user of the other brand with the same id does not see these notifications', async () => {
    const maras = await inbox(site, operator, '1', '1001')
    const jonases = await jonas.ids()
    assert.ok(jonases.length >= 2)
    assert.deepEqual(
      jonases.filter((id) => maras.includes(id)),
      [],
    )
    await eventually(async () => {
      const [shown, stored] = [await jonas.ids(), await inbox(site, operator, '2', '1001')]
      return shown.length === stored.length && stored.every((id) => shown.includes(id))
    })
  })

  await t.test('after a switch to another user, the page shows the notifications of that user', async () => {
    await jonas.page.selectOption('#who', '2/1002')
    await jonas.page.waitForSelector('#state[data-state="live"]', waiting)
    await jonas.page.locator('#notes li').nth(1).waitFor(waiting)
    const stored = await inbox(site, operator, '2', '1002')
    assert.deepEqual(
      (await jonas.ids()).filter((id) => !stored.includes(id)),
      [],
    )
  })

  await t.test('notifications that were marked as read are read in every tab, also after a reload', async () => {
    const read = await jonas.ids()
    const second = await openPage(browser, `${site}/site#2/1002`)
    await second.page.locator('#notes li.unread').nth(1).waitFor(waiting)
    const unreadIn = async (page: Page): Promise<string[]> => {
      const unread = await page.locator('#notes .unread').evaluateAll(idsOf)
      return unread.filter((id) => read.includes(id))
    }
    await jonas.page.click('#notes [part=read-all]')
    await eventually(async () => (await unreadIn(second.page)).length === 0)
    await eventually(async () => (await unreadIn(jonas.page)).length === 0)
    await jonas.page.reload()
    await jonas.page.locator('#notes li').nth(1).waitFor(waiting)
    await jonas.page.waitForSelector('#state[data-state="live"]', waiting)
    assert.deepEqual(await unreadIn(jonas.page), [])
    assert.deepEqual(second.errors, [])
  })

  assert.deepEqual([...mara.errors, ...jonas.errors], [])
  demo.interrupt()
  assert.equal(await demo.exit, 0)
  assert.deepEqual(await demo.leftovers(), [])
})

/** The user's notifications at the operator, read without the page. */
async function inbox(site: string, operator: string, brand: string, user: string): Promise<string[]> {
  const { token } = (await post(`${site}/demo/token`, { brand, user_id: user })) as { token: string }
  const response = await fetch(`${operator}/app/inbox?limit=100`, { headers: { authorization: `Bearer ${token}` } })
  const { items } = (await response.json()) as { items: { site_notification_id: string }[] }
  return items.map((item) => item.site_notification_id)
}
