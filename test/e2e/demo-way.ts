// The first screen of the demo: each button does what it says, and the page tells what is so.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { openPage, post, type RunningDemo, waiting } from './demo-page.ts'

const isLinux = process.platform === 'linux'

/** Each button of the demo causes its fault, and the page says what is so and what becomes of the messages. */
export async function testWay(t: TestContext, { site, browser }: RunningDemo): Promise<void> {
  const { page, errors, expectFailures } = await openPage(browser, site)
  const says = (text: RegExp): Promise<void> => page.getByText(text).first().waitFor(waiting)
  /** The answer to the button already tells the truth. The live part then follows each second. */
  const press = async (name: string, at: RegExp): Promise<void> => {
    const answered = page.waitForResponse((response) => response.url().endsWith('/demo/act'))
    await page.getByRole('button', { name, exact: true }).click()
    const answer = await answered
    assert.equal(answer.status(), 200)
    assert.match(await answer.text(), at)
    await says(at)
  }
  const outcome = (state: string, text: RegExp): Promise<void> =>
    page.locator(`tr[data-outcome="${state}"]`, { hasText: text }).first().waitFor(waiting)

  await t.test('all is well at first', async () => {
    assert.equal(await page.textContent('h1'), 'Messages arrive')
    await post(`${site}/demo/send`, { brand: '1', user_id: '1001', channel: 'push' })
    await outcome('arrived', /On the iPhone\./)
    await page.frameLocator('iframe').locator('.phone-note').first().waitFor(waiting)
  })
  await t.test('on a phone, no word of the list is broken', async () => {
    const size = page.viewportSize()
    await page.setViewportSize({ width: 360, height: 800 })
    const lines = await page.getByRole('link', { name: 'explain' }).first().evaluate(countLines)
    assert.equal(lines, 1)
    if (size) await page.setViewportSize(size)
  })

  await t.test('a lost answer: the platform asks again, and the phone rings once', async () => {
    await press('Lose an answer', /answer (of the operator will be|was) lost/)
    await says(/got the same identifier: the phone rang once/)
    await outcome('arrived', /The first answer was lost; the platform asked again, and nothing was sent twice/)
  })

  await t.test('an excluded user gets nothing, and an included one does again', async () => {
    await press('Exclude Mara', /Mara is excluded in the operator’s list of users/)
    await outcome('refused', /Mara Lindqvist.*Refused by the operator: the user is excluded/s)
    await press('Include Mara again', /Exclude Mara/)
  })

  await t.test('a campaign is cancelled: its waiting pushes are never sent', async () => {
    await press('Start a campaign', /A campaign of 60 pushes to Northgate runs/)
    await press('Cancel the campaign', /campaign/)
    await says(/The campaign was cancelled: \d+ pushes had been sent, \d+ never were/)
  })

  await t.test('FCM answers 503: messages for Android phones wait until it answers again', async () => {
    await press('FCM answers 503', /The operator pauses FCM and tries it again/)
    const waits = page.locator('tr[data-outcome="waiting"]', { hasText: /Jonas Okafor.*tries again/s }).first()
    const key = await waits.getAttribute('data-key', waiting)
    await press('FCM answers again', /FCM answers 503/)
    await page.locator(`tr[data-key="${key}"]`, { hasText: 'On the Android phone.' }).waitFor(waiting)
  })

  await t.test('a full disk: the operator accepts nothing that it cannot store', { skip: !isLinux }, async () => {
    await press('Fill the disk', /The disk of the operator is full/)
    await outcome('waiting', /the operator cannot store it/)
    await press('Free the disk', /Messages arrive/)
  })

  expectFailures(true) // the page beside loses its connection to the operator
  await t.test('the operator is stopped: the platform keeps its messages, and sends them after a start', async () => {
    await press('Stop the operator', /The operator is stop(ping|ped)/)
    await says(/^The operator is stopped$/)
    await outcome('waiting', /Waits at the platform: the operator does not run/)
    await press('Start the operator', /The operator is starting/)
    await says(/^Messages arrive$/)
  })

  await t.test('the platform is killed: its messages are in its store, and arrive after a start', async () => {
    await press('Kill the platform', /The platform is stop(ping|ped)/)
    await says(/^The platform is stopped$/)
    await press('Start the platform', /The platform is starting/)
    await says(/^Messages arrive$/)
    await page.locator('.figures', { hasText: /On the way0/ }).waitFor(waiting)
  })

  await t.test('a message is explained in the console, where the reader is signed in', async () => {
    const opened = page.context().waitForEvent('page')
    await page.getByRole('link', { name: 'explain' }).first().click()
    const console = await opened
    await console.getByRole('heading', { name: /^Message \d+/ }).waitFor(waiting)
  })

  assert.deepEqual(errors, [])
}

/** Runs in the browser. */
const countLines = (link: unknown): number =>
  (link as { getClientRects(): { readonly length: number } }).getClientRects().length
