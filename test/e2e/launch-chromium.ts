import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BrowserContext, chromium as engine } from 'playwright-core'
import { desktopChromium } from '../support/services/chromium.ts'
import { within } from './push-site.ts'
import type { Lifetime, Page } from './web-push-suite.ts'

/** A Chromium that receives push messages on a background connection. @param switches from startFakeGcm() */
export async function launchChromium(file: Lifetime, switches: readonly string[]): Promise<BrowserContext> {
  const profile = await mkdtemp(join(tmpdir(), 'bellwire-chromium-'))
  const browser = await engine.launchPersistentContext(profile, {
    executablePath: await desktopChromium(),
    headless: true,
    timeout: 60_000,
    ignoreDefaultArgs: ['--disable-background-networking'],
    args: [
      ...switches,
      '--ignore-certificate-errors',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
  file.after(async () => {
    await browser.close()
    await rm(profile, { recursive: true, force: true, maxRetries: 5 })
  })
  return browser
}

/** Opens a page that may show notifications. */
export async function openPage(browser: BrowserContext, address: string): Promise<Page> {
  await browser.grantPermissions(['notifications'], { origin: new URL(address).origin })
  const page = await browser.newPage()
  await page.goto(address)
  return page
}

/** The page of `bellwire push --subscribe`. */
export const clickSubscribe = (page: Page): Promise<void> =>
  page.evaluate(async () => {
    // biome-ignore lint/suspicious/noExplicitAny: the browser's globals are not Node's
    ;(globalThis as any).document.querySelector('button').click()
  }, '')

/** @returns the title of the first notification that Chromium shows */
export const titleOfNotification = (page: Page): Promise<string> =>
  within(page.evaluate(shownTitle, ''), 'Chromium shows the message')

/** Runs in the page. */
async function shownTitle(): Promise<string> {
  // biome-ignore lint/suspicious/noExplicitAny: the browser's globals are not Node's
  const registration = await (globalThis as any).navigator.serviceWorker.ready
  for (;;) {
    const [shown] = await registration.getNotifications()
    if (shown) return shown.title
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
