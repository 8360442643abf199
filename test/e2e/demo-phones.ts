// Push in the demo: the phones of the page show the messages that the stand-ins of FCM, APNs and Web Push received.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { eventually, idsOf, openPage, type RunningDemo, waiting } from './demo-page.ts'

/** Pushes appear on the phones of the page, wait for offline phones, and never reach an excluded user. */
export async function testPhones(t: TestContext, { demo, site, browser }: RunningDemo): Promise<void> {
  const mara = await openPage(browser, `${site}/site#1/1001`)
  const other = await openPage(browser, `${site}/site#2/1001`)

  await t.test('a push appears on the phone without a reload, on top, and in the terminal', async () => {
    const phone = phoneOf(mara.page, '1/1001/1')
    await phone.waitFor(waiting)
    const before = await notes(phone)
    const fresh = await sendPush(mara.page, phone)
    // More may arrive at any time.
    assert.equal((await notes(phone)).filter((id) => id === fresh || before.includes(id))[0], fresh)
    const note = phone.locator(`.phone-note[data-id="${fresh}"]`)
    // The texts of the demo have a title of one word, too.
    assert.match((await note.textContent()) ?? '', /^\S.*now\S/)
    assert.equal(await note.locator('[role="img"]').getAttribute('aria-label'), 'Larkspur')
    // The content security policy allows its picture.
    await eventually(() =>
      note.locator('img.thumb').evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth > 0),
    )
    assert.match((await phone.locator('.phone-state').textContent()) ?? '', /^Online through APNs, \d+ so far$/)
    await demo.printed(/✓ push +Mara Lindqvist .* on the iPhone/)
  })

  await t.test('the user of the other brand with the same id does not get the push', async () => {
    const jonas = phoneOf(other.page, '2/1001/1')
    await jonas.waitFor(waiting)
    const maras = await notes(phoneOf(mara.page, '1/1001/1'))
    assert.deepEqual(
      (await notes(jonas)).filter((id) => maras.includes(id)),
      [],
    )
    assert.equal(await other.page.locator('.phone').count(), 1)
  })

  await t.test('a phone that is switched off with the keyboard shows no push until it is online again', async () => {
    const phone = phoneOf(other.page, '2/1001/1')
    const control = other.page.getByRole('switch', { name: 'Jonas’s Android phone is online' })
    await control.press('Space')
    await other.page.waitForSelector('.phone[data-id="2/1001/1"][data-online="false"]', waiting)
    assert.equal(await control.getAttribute('aria-checked'), 'false')
    assert.ok(await control.evaluate((node) => node === node.ownerDocument.activeElement))
    await demo.printed(/Jonas Okafor’s Android phone is offline/)
    const before = await notes(phone)
    for (const waits of [/Offline, (1 push waits|\d+ pushes wait) at FCM/, /Offline, \d+ pushes wait at FCM/]) {
      await other.page.click('#send-push')
      await eventually(async () => waits.test((await phone.locator('.phone-state').textContent()) ?? ''))
      // The button is enabled again for the next push.
      await other.page.waitForSelector('#send-push:not([aria-disabled])', waiting)
    }
    await demo.printed(/… push +Jonas Okafor .* waits at FCM for the Android phone, which is offline/)
    assert.deepEqual(await notes(phone), before)

    await control.press('Space')
    await other.page.waitForSelector('.phone[data-id="2/1001/1"][data-online="true"]', waiting)
    await eventually(async () => (await notes(phone)).filter((id) => !before.includes(id)).length >= 2)
    await demo.printed(/Jonas Okafor’s Android phone is back online/)
    await demo.printed(/✓ push +Jonas Okafor .* on the Android phone +after/)
  })

  await t.test(
    'a push that has waited for an offline phone since the start appears when the phone is online',
    async () => {
      assert.match(demo.output, /… push +Aiko Tanaka .* waits at FCM/)
      await other.page.selectOption('#who', '2/1002')
      const phone = phoneOf(other.page, '2/1002/1')
      await phone.waitFor(waiting)
      // The demo also switches it on after a while.
      if ((await phone.getAttribute('data-online')) === 'false') await phone.getByRole('switch').click()
      await phone.locator('.phone-note').first().waitFor(waiting)
      await demo.printed(/Aiko Tanaka’s Android phone is back online/)
      await demo.printed(/✓ push +Aiko Tanaka .* on the Android phone +after/)
    },
  )

  await t.test('a user with two devices gets the push on both', async () => {
    await other.page.selectOption('#who', '1/1002')
    const [phone, laptop] = ['1/1002/1', '1/1002/2'].map((id) => phoneOf(other.page, id)) as [Locator, Locator]
    await laptop.waitFor(waiting)
    assert.deepEqual(await other.page.locator('.phone-name').allTextContents(), ['Android phone', 'Laptop'])
    const fresh = await sendPush(other.page, phone)
    await laptop.locator(`.phone-note[data-id="${fresh}"]`).waitFor(waiting)
    await demo.printed(/✓ push +Theo Brandt .* on the Android phone and the laptop/)
  })

  await t.test('the phone of a user who has excluded herself shows no push, and the page says why', async () => {
    other.expectFailures(true)
    await other.page.selectOption('#who', '1/1003')
    const phone = phoneOf(other.page, '1/1003/1')
    await phone.waitFor(waiting)
    await other.page.click('#send-push')
    await eventually(async () =>
      /^Silent\. The operator says: “.*excluded.*”$/.test((await phone.locator('.phone-state').textContent()) ?? ''),
    )
    assert.deepEqual(await notes(phone), [])
    assert.equal(await phone.getAttribute('data-online'), 'true')
  })

  assert.deepEqual([...mara.errors, ...other.errors], [])
}

const phoneOf = (page: Page, id: string): Locator => page.locator(`.phone[data-id="${id}"]`)

/** The push_ids on the screen of the phone, newest first. */
const notes = (phone: Locator): Promise<string[]> => phone.locator('.phone-note').evaluateAll(idsOf)

/** Clicks the button. @returns the push_id of the push that appeared */
async function sendPush(page: Page, phone: Locator): Promise<string> {
  await phone.waitFor(waiting)
  const before = await notes(phone)
  await page.click('#send-push')
  let fresh: string | undefined
  await eventually(async () => {
    fresh = (await notes(phone)).find((id) => !before.includes(id))
    return fresh !== undefined
  })
  return fresh as string
}
