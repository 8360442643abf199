// The texts of an open page of the demo about messages, also while the demo is stopped and after a restart.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { startDemo } from './demo-child.ts'
import { openPage, type RunningDemo, waitForNote, waiting } from './demo-page.ts'

/** An open page of the demo reconnects after a restart, and reports correctly which messages were sent. Ends the demo. */
export async function testRestart(t: TestContext, { demo: first, site, browser }: RunningDemo): Promise<void> {
  const { page, errors, expectFailures, ids } = await openPage(browser, `${site}/site#1/1001`)
  await page.waitForSelector('#state[data-state="live"]', waiting)
  await page.locator('#notes li').nth(1).waitFor(waiting)

  await t.test('the page follows a message until it has arrived, and names the place', async () => {
    await page.click('#send')
    await waitForNote(page, /^“.+” arrived in the inbox in \d+ ms\.$/)
    await page.click('#send-push')
    await waitForNote(page, /^“.+” arrived\. On the iPhone\.$/)
  })

  await t.test('while the demo is stopped, the page says so, and that no message is sent', async () => {
    expectFailures(true)
    first.interrupt()
    assert.equal(await first.exit, 0)
    assert.deepEqual(await first.leftovers(), [])
    await page.waitForSelector('#state[data-state="down"]', waiting)
    await page.getByText(/This page has no connection to the demo/).waitFor(waiting)
    await page.click('#send')
    await waitForNote(page, /^Not sent: there is no connection to the demo\.$/)
    await page.getByRole('switch').click()
    await page.getByText('Not switched: there is no connection to the demo.').waitFor(waiting)
  })

  await t.test('after a restart, the page shows the notifications of the new demo, and sends through it', async () => {
    const before = await ids()
    const second = await startDemo(t, ['--port', new URL(site).port])
    await second.printed(/From now on a message every few seconds/)
    await page.waitForSelector('#state[data-state="live"]', waiting)
    expectFailures(false)
    assert.equal(await page.locator('#down').isHidden(), true)
    await page.locator('#notes li').nth(1).waitFor(waiting)
    assert.deepEqual(
      (await ids()).filter((id) => before.includes(id)),
      [],
    )
    assert.equal(await page.inputValue('#who'), '1/1001')
    await page.click('#send')
    await waitForNote(page, /^“.+” arrived in the inbox in \d+ ms\.$/)
    await page.click('#send-push')
    await waitForNote(page, /^“.+” arrived\. On the iPhone\.$/)
    assert.deepEqual(errors, [])
    second.interrupt()
    assert.equal(await second.exit, 0)
  })
}
