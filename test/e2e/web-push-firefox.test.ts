// Without the internet: Firefox subscribes at the stand-in, which replaces Mozilla's push service.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type Browser, launch } from 'puppeteer-core'
import { firefox, withoutFirefox } from '../support/services/firefox.ts'
import { webPushSuite } from './web-push-suite.ts'

webPushSuite({
  name: 'Firefox',
  skip: await withoutFirefox(),
  async open(t, standIn, site) {
    const page = await (await launchFirefox(t, standIn.autopush)).newPage()
    await page.goto(site)
    return page
  },
})

async function launchFirefox(t: TestContext, autopush: string): Promise<Browser> {
  const profile = await mkdtemp(join(tmpdir(), 'bellwire-firefox-'))
  const browser = await launch({
    browser: 'firefox',
    executablePath: await firefox(),
    headless: true,
    userDataDir: profile,
    timeout: 60_000,
    extraPrefsFirefox: {
      'dom.push.enabled': true,
      'dom.push.connection.enabled': true,
      'dom.push.serverURL': autopush,
      'dom.push.testing.allowInsecureServerURL': true,
      'dom.push.testing.ignorePermission': true,
      'permissions.default.desktop-notification': 1,
      // Web Push requires HTTPS. This setting allows a local page over HTTP.
      'dom.serviceWorkers.testing.enabled': true,
      // Firefox shows notifications itself, because there is no desktop.
      'alerts.useSystemBackend': false,
      'network.proxy.type': 0,
    },
  })
  t.after(async () => {
    await browser.close()
    await rm(profile, { recursive: true, force: true, maxRetries: 5 })
  })
  return browser
}
