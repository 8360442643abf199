// The texts of the page of the demo about an excluded user and about the hour.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { openPage, type RunningDemo, waitForNote, waiting } from './demo-page.ts'

/** The page explains that an excluded user gets no messages. */
export async function testExcluded(_: TestContext, { site, browser }: RunningDemo): Promise<void> {
  const { page, expectFailures } = await openPage(browser, `${site}/site#1/1003`)
  expectFailures(true)
  await page.getByText('Inbox closed', { exact: true }).waitFor(waiting)
  for (const button of ['#send', '#send-push']) {
    await page
      .getByText(/Ines has excluded herself: the operator keeps her inbox closed and refuses every message to her\.$/)
      .waitFor(waiting)
    await page.click(button)
    await waitForNote(page, /^The operator refused “.+”\. It says: “(not sent: )?the user is excluded”\.$/)
    await page.selectOption('#who', '1/1001')
    await waitForNote(page, /^$/)
    assert.match((await page.textContent('#lead')) ?? '', /appear in the inbox and on the iPhone by themselves\.$/)
    await page.selectOption('#who', '1/1003')
  }
}

/** The page greets by the hour. */
export async function testGreeting(_: TestContext, { site, browser }: RunningDemo): Promise<void> {
  const { page } = await openPage(browser, `${site}/site`)
  for (const [hour, user, greeting] of [
    [0, '1/1002', 'Good evening, Theo'],
    [4, '1/1001', 'Good evening, Mara'],
    [5, '1/1002', 'Good morning, Theo'],
    [12, '1/1001', 'Good afternoon, Mara'],
    [18, '1/1002', 'Good evening, Theo'],
  ] as const) {
    await page.clock.setFixedTime(new Date(2026, 0, 5, hour, 30))
    await page.selectOption('#who', user)
    await page.getByText(greeting).waitFor(waiting)
  }
}
