// The widget and the journeys of the console in one real Firefox: its start takes 3 s of processor time.

import { after, type TestContext } from 'node:test'
import type { Browser, BrowserContext, KeyInput } from 'puppeteer-core'
import { journeys } from './console/journeys.ts'
import { launchFirefox } from './support/launch-firefox.ts'
import { withoutFirefox } from './support/services/firefox.ts'
import { type Page, widgetSuite } from './widget/widget-suite.ts'

const skip = await withoutFirefox()
const browser = skip ? undefined : await launchFirefox({ after })

/** A session of its own, which ends with the test. */
async function newContext(t: TestContext): Promise<BrowserContext> {
  const context = await (browser as Browser).createBrowserContext()
  t.after(() => context.close())
  return context
}

widgetSuite({
  name: 'Firefox',
  skip,
  async open(t) {
    const context = await newContext(t)
    return {
      async newPage(url) {
        const page = await context.newPage()
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

journeys({
  browser: 'Firefox',
  skip,
  async newTab(t) {
    const page = await (await newContext(t)).newPage()
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
