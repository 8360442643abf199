import type { KeyInput } from 'puppeteer-core'
import { launchFirefox } from '../support/launch-firefox.ts'
import { withoutFirefox } from '../support/services/firefox.ts'
import { type Page, widgetSuite } from './widget-suite.ts'

widgetSuite({
  name: 'Firefox',
  skip: await withoutFirefox(),
  async open(t) {
    const browser = await launchFirefox(t)
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
