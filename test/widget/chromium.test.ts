import { chromium as engine } from 'playwright-core'
import { chromium, withoutChromium } from '../support/services/chromium.ts'
import { widgetSuite } from './widget-suite.ts'

widgetSuite({
  name: 'Chromium',
  skip: await withoutChromium(),
  async open(t) {
    const browser = await engine.launch({
      executablePath: await chromium(),
      args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
    })
    t.after(() => browser.close())
    const context = await browser.newContext()
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
})
