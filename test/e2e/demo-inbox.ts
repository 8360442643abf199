// The inbox on the page of the demo: the notifications of its user only, without gaps and duplicates.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { tcpProxy } from '../support/tcp-proxy.ts'
import { eventually, idsOf, openPage, post, type RunningDemo, waiting } from './demo-page.ts'

/** The page of the demo shows the notifications of its user only, also after the connection breaks. */
export async function testInbox(t: TestContext, { site, browser }: RunningDemo): Promise<void> {
  const { operator } = (await (await fetch(`${site}/demo/cast`)).json()) as { operator: string }
  const proxy = await tcpProxy(t, operator)
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
}

/** The user's notifications at the operator, read without the page. */
async function inbox(site: string, operator: string, brand: string, user: string): Promise<string[]> {
  const { token } = (await post(`${site}/demo/token`, { brand, user_id: user })) as { token: string }
  const response = await fetch(`${operator}/app/inbox?limit=100`, { headers: { authorization: `Bearer ${token}` } })
  const { items } = (await response.json()) as { items: { site_notification_id: string }[] }
  return items.map((item) => item.site_notification_id)
}
