import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type KeyInput, launch } from 'puppeteer-core'
import { firefox, withoutFirefox } from '../support/services/firefox.ts'
import { type Page, widgetSuite } from './widget-suite.ts'

widgetSuite({
  name: 'Firefox',
  skip: await withoutFirefox(),
  async open(t) {
    const profile = await mkdtemp(join(tmpdir(), 'bellwire-firefox-'))
    const browser = await launch({
      browser: 'firefox',
      executablePath: await firefox(),
      headless: true,
      userDataDir: profile,
      timeout: 60_000,
      extraPrefsFirefox: { 'network.proxy.type': 0 },
    })
    t.after(async () => {
      await browser.close()
      await rm(profile, { recursive: true, force: true, maxRetries: 5 })
    })
    return {
      async newPage(url) {
        const page = await browser.newPage()
        await page.goto(url)
        return {
          evaluate: (expression) => page.evaluate(expression) as ReturnType<Page['evaluate']> as never,
          press: (key) => page.keyboard.press(key as KeyInput),
          close: () => page.close(),
        }
      },
    }
  },
})
