// Without the internet: Chromium subscribes at a fake of Google's service, which forwards the messages of the stand-in.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BrowserContext, chromium as engine } from 'playwright-core'
import { chromiumOrigin, startFakeGcm } from '../support/gcm/fake-gcm.ts'
import { chromium, withoutChromium } from '../support/services/chromium.ts'
import { type Lifetime, webPushSuite } from './web-push-suite.ts'

await webPushSuite({
  name: 'Chromium',
  skip: await withoutChromium(),
  origin: chromiumOrigin,
  async launch(file, standIn) {
    const browser = await launchChromium(file, await startFakeGcm(file, standIn))
    return async (site) => {
      await browser.grantPermissions(['notifications'], { origin: site })
      const page = await browser.newPage()
      await page.goto(site)
      return page
    }
  },
})

async function launchChromium(file: Lifetime, switches: readonly string[]): Promise<BrowserContext> {
  const profile = await mkdtemp(join(tmpdir(), 'bellwire-chromium-'))
  const browser = await engine.launchPersistentContext(profile, {
    executablePath: await chromium(),
    headless: true,
    timeout: 60_000,
    // Chromium receives messages on a background connection.
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
