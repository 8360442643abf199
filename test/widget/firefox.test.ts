import { after } from 'node:test'
import type { Browser, KeyInput } from 'puppeteer-core'
import { launchFirefox } from '../support/launch-firefox.ts'
import { withoutFirefox } from '../support/services/firefox.ts'
import { type Page, widgetSuite } from './widget-suite.ts'

const skip = await withoutFirefox()
const browser = skip ? undefined : await launchFirefox({ after })

widgetSuite({
  name: 'Firefox',
  skip,
  async open(t) {
    const context = await (browser as Browser).createBrowserContext()
    t.after(() => context.close())
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
