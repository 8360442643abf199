import { after } from 'node:test'
import { type Browser, chromium as engine } from 'playwright-core'
import { chromium, withoutChromium } from '../support/services/chromium.ts'
import { accessibilitySuite, type BrowserFixture, widgetSuite } from './widget-suite.ts'

const skip = await withoutChromium()
const browser = skip
  ? undefined
  : await engine.launch({
      executablePath: await chromium(),
      args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
    })
after(() => browser?.close())

const fixture: BrowserFixture = {
  name: 'Chromium',
  skip,
  async open(t) {
    const context = await (browser as Browser).newContext()
    t.after(() => context.close())
    return {
      async newPage(url) {
        const page = await context.newPage()
        await page.goto(url)
        return {
          evaluate: (expression) => page.evaluate(expression),
          press: (key) => page.keyboard.press(key),
          close: () => page.close(),
        }
      },
    }
  },
}

widgetSuite(fixture)
accessibilitySuite(fixture)
