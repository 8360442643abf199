// The journeys of the console in a real Firefox.

import { after } from 'node:test'
import type { Browser } from 'puppeteer-core'
import { launchFirefox } from '../support/launch-firefox.ts'
import { withoutFirefox } from '../support/services/firefox.ts'
import { journeys } from './journeys.ts'

const skip = await withoutFirefox()
const browser = skip ? undefined : await launchFirefox({ after })

journeys({
  browser: 'Firefox',
  skip,
  async newTab(t) {
    const context = await (browser as Browser).createBrowserContext()
    t.after(() => context.close())
    const page = await context.newPage()
    const query = (selector: string) => (selector.startsWith('//') ? `::-p-xpath(${selector})` : selector)
    return {
      open: async (address) => void (await page.goto(address)),
      async click(selector) {
        await Promise.all([page.waitForNavigation(), page.locator(query(selector)).click()])
      },
      fill: (selector, value) => page.locator(selector).fill(value),
      text: () => page.$eval('body', (body) => (body as unknown as { innerText: string }).innerText),
      count: async (selector) => (await page.$$(selector)).length,
    }
  },
})
