// Layout of the demo's page, on a desktop and on a phone: overlaps, widths and truncated texts.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { openPage, type RunningDemo, waiting } from './demo-page.ts'

const screens = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } }

/** On the page of the demo, toasts cover no content, and no element is too narrow for its text. */
export async function testLayout(t: TestContext, { site, browser }: RunningDemo): Promise<void> {
  const { page } = await openPage(browser, `${site}/site#2/1001`)
  for (const [name, size] of Object.entries(screens)) {
    await page.setViewportSize(size)
    await page.reload()
    await page.waitForSelector('#state[data-state="live"]', waiting)
    await page.locator('#notes li').nth(1).waitFor(waiting)

    await t.test(
      `${name}: while the inbox is visible, a new notification appears in the list without a toast`,
      async () => {
        await page.locator('#inbox').evaluate((node) => node.scrollIntoView({ behavior: 'instant' }))
        await send(page)
        assert.equal(await page.locator('.toast').count(), 0)
        // A screen reader announces it.
        assert.match((await page.textContent('#bell [role=status]')) ?? '', /\S+/)
      },
    )

    await t.test(`${name}: while the inbox is not visible, a toast appears over the top bar`, async () => {
      await page.setViewportSize({ ...size, height: 400 })
      await page.locator('.hero').evaluate((node) => node.scrollIntoView({ behavior: 'instant', block: 'end' }))
      await send(page)
      const toast = page.locator('.toast')
      await toast.waitFor(waiting)
      const [bar, box] = [await boxOf(page.locator('.top')), await boxOf(toast)]
      assert.ok(box.y >= bar.y && box.y + box.height <= bar.y + bar.height, 'the toast covers more than the bar')
      assert.ok(box.x >= 0 && box.x + box.width <= size.width)
      await page.setViewportSize(size)
    })

    await t.test(`${name}: no element is wider than the screen, and no name is truncated`, async () => {
      assert.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'))
      assert.ok(await page.locator('#brand-name').isVisible())
      const truncated = await page.locator('#who').evaluate(findTruncatedNames)
      assert.deepEqual(truncated, [])
    })
  }
  await t.test(
    'desktop: the two columns have the same bottom edge, for users with one device and with two',
    async () => {
      await page.setViewportSize(screens.desktop)
      for (const user of ['1/1001', '1/1002', '1/1003']) {
        await page.selectOption('#who', user)
        await page.locator(`.phone[data-id="${user}/1"]`).waitFor(waiting)
        const [inbox, phones] = [await boxOf(page.locator('#inbox')), await boxOf(page.locator('.phones-card'))]
        assert.ok(Math.abs(inbox.y + inbox.height - phones.y - phones.height) < 2)
      }
    },
  )
  await t.test('phone: the buttons have the full width', async () => {
    await page.setViewportSize(screens.phone)
    const actions = await boxOf(page.locator('.hero-actions'))
    for (const button of ['#send', '#send-push'])
      assert.ok(Math.abs((await boxOf(page.locator(button))).width - actions.width) < 2)
  })
}

/** Sends a message without scrolling to the button, and waits for its notification. */
async function send(page: Page): Promise<void> {
  const newest = page.locator('#notes li').first()
  const before = await newest.getAttribute('data-id')
  await page.locator('#send').evaluate((button) => (button as unknown as { click(): void }).click())
  await page.locator(`#notes li:first-child:not([data-id="${before}"])`).waitFor({ ...waiting, state: 'attached' })
}

async function boxOf(locator: Locator): Promise<{ x: number; y: number; width: number; height: number }> {
  const box = await locator.boundingBox()
  assert.ok(box)
  return box
}

/** Runs in the browser. @returns the user names that are wider than the closed list of users */
function findTruncatedNames(select: unknown): string[] {
  const { options, ownerDocument } = select as {
    options: Iterable<{ text: string }>
    ownerDocument: { createElement(name: 'canvas'): { getContext(kind: '2d'): unknown }; defaultView: unknown }
  }
  const view = ownerDocument.defaultView as { getComputedStyle(of: unknown): Record<string, string> }
  const style = view.getComputedStyle(select)
  const context = ownerDocument.createElement('canvas').getContext('2d') as {
    font: string
    measureText(text: string): { width: number }
  }
  context.font = style.font as string
  const width = (select as { clientWidth: number }).clientWidth
  const textWidth =
    width - Number.parseFloat(style.paddingLeft as string) - Number.parseFloat(style.paddingRight as string)
  return [...options].map(({ text }) => text).filter((text) => context.measureText(text).width > textWidth + 1)
}
