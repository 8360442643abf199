// Draws the picture of the demo, and those of docs/inbox.md: each state of the widget, light, dark, narrow, and from right to left.
// Run it with `npm run screenshots`. It is no test of the suite, because the fonts of machines differ.

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { type Browser, type BrowserContext, chromium as engine, type Page } from 'playwright-core'
import { bundleWidget } from '../../release/bundle-widget.ts'
import { startDemo } from '../e2e/demo-child.ts'
import { chromium } from '../support/services/chromium.ts'
import { arabic, now, states, type Variant, variants } from './screenshot-states.ts'

const root = join(import.meta.dirname, '../..')
const images = join(root, 'docs/images')
const site = 'http://shop.example'
const widget = Buffer.from(await bundleWidget('inbox-element'))

test('the picture of the demo is drawn', async (t) => {
  const demo = await startDemo(t, ['--port', '0'])
  const [, site = ''] = await demo.printed(/Page\s+(http:\/\/\S+)/)
  await demo.printed(/From now on a message every few seconds/)
  const browser = await engine.launch({ executablePath: await chromium(), args: ['--no-sandbox', '--disable-gpu'] })
  t.after(() => browser.close())
  const page = await browser.newPage({ viewport: { width: 1280, height: 960 } })
  await page.goto(site)
  await page.getByRole('button', { name: 'FCM answers 503' }).click()
  await page.locator('tr', { hasText: /Jonas Okafor.*tries again/s }).waitFor()
  await page.frameLocator('iframe').locator('.phone-note').nth(1).waitFor()
  await page.screenshot({ path: join(root, 'docs/demo.png'), animations: 'disabled' })
})

test('the pictures of the widget are drawn', async (t) => {
  const browser = await engine.launch({ executablePath: await chromium(), args: ['--no-sandbox', '--disable-gpu'] })
  t.after(() => browser.close())
  await mkdir(images, { recursive: true })
  for (const variant of variants) {
    const shots: { readonly name: string; readonly png: Buffer }[] = []
    for (const state of states) shots.push({ name: state.name, png: await draw(browser, variant, state) })
    await writeFile(join(images, `inbox-${variant.name}.png`), await drawSheet(browser, variant, shots))
  }
})

async function draw(browser: Browser, variant: Variant, state: (typeof states)[number]): Promise<Buffer> {
  const context = await openContext(browser, variant, variant.width, variant.height, state.inPage)
  const page = await context.newPage()
  await page.clock.setFixedTime(now)
  await page.goto(`${site}/`)
  await page.evaluate((shown) => {
    // biome-ignore lint/suspicious/noExplicitAny: the browser's globals are not Node's
    const element = (globalThis as any).document.querySelector('bellwire-inbox')
    element.client = { state: shown, subscribe: () => () => {}, onArrival: () => () => {}, markAll: async () => {} }
    return element.updateComplete
  }, state.state(variant.rtl))
  if (state.opens) await openPanel(page)
  if (state.focuses) for (let i = 0; i < state.focuses; i++) await page.keyboard.press('Tab')
  if (state.hovers) await page.hover('.item >> nth=1')
  await page.waitForLoadState('networkidle')
  const png = await page.screenshot({ animations: 'disabled' })
  await context.close()
  return png
}

async function openPanel(page: Page): Promise<void> {
  await page.click('.bell')
  await page.mouse.move(0, 0)
  await page.waitForSelector('.panel:popover-open')
}

/** One picture of all states of a variant. */
async function drawSheet(
  browser: Browser,
  variant: Variant,
  shots: readonly { readonly name: string; readonly png: Buffer }[],
): Promise<Buffer> {
  const columns = 5
  const gap = 28
  const column = 340
  const width = columns * column + (columns + 1) * gap
  const context = await openContext(browser, { ...variant, rtl: false }, width, 600)
  const page = await context.newPage()
  const figures = shots.map(
    ({ name, png }) =>
      `<figure><img src="data:image/png;base64,${png.toString('base64')}"><figcaption>${name}</figcaption></figure>`,
  )
  await page.setContent(`<!doctype html><style>
    body { margin: 0; padding: ${gap}px; display: grid; grid-template-columns: repeat(${columns}, ${column}px); gap: ${gap}px;
      font: 500 14px system-ui, sans-serif; background: ${variant.scheme === 'dark' ? '#0b0b0f; color: #b9bbc6' : '#eceef3; color: #4a4d58'} }
    figure { margin: 0 } figcaption { padding-top: 10px; text-align: center }
    img { display: block; width: 100%; border-radius: 14px }
  </style>${figures.join('')}`)
  const png = await page.screenshot({ fullPage: true })
  await context.close()
  return png
}

async function openContext(
  browser: Browser,
  { scheme, rtl, narrow }: Variant,
  width: number,
  height: number,
  inPage = false,
): Promise<BrowserContext> {
  const context = await browser.newContext({
    viewport: { width, height },
    deviceScaleFactor: 1.5,
    colorScheme: scheme,
    hasTouch: narrow,
    isMobile: narrow,
    locale: 'en-GB',
    timezoneId: 'UTC',
  })
  await context.route(`${site}/**`, async (route) => {
    const { pathname } = new URL(route.request().url())
    if (pathname === '/widget.js') return route.fulfill({ contentType: 'text/javascript', body: widget })
    if (pathname.endsWith('.svg'))
      return route.fulfill({
        contentType: 'image/svg+xml',
        body: await readFile(join(root, 'src/tools/demo/page/art', pathname), 'utf8'),
      })
    return route.fulfill({ contentType: 'text/html', body: shop(rtl, inPage) })
  })
  return context
}

/** A page around the widget. */
function shop(rtl: boolean, inPage: boolean): string {
  const element = `<bellwire-inbox view="${inPage ? 'list' : 'bell'}"></bellwire-inbox>`
  return `<!doctype html><html lang="${rtl ? 'ar' : 'en-GB'}" dir="${rtl ? 'rtl' : 'ltr'}">
    <meta charset="utf-8"><meta name="viewport" content="width=device-width">
    <style>
      :root { color-scheme: light dark; font-family: system-ui, sans-serif; background: light-dark(#f7f7fa, #111216); color: light-dark(#1b1c22, #f1f1f4) }
      body { margin: 0 }
      header { display: flex; align-items: center; justify-content: space-between; height: 60px; padding: 0 16px; font-weight: 650; background: light-dark(#fff, #17181d) }
      main { padding: 20px 16px; display: grid; gap: 14px }
      main i { height: 84px; border-radius: 14px; background: light-dark(#ecedf3, #1b1c22) }
      main bellwire-inbox { border-radius: 16px; box-shadow: 0 1px 3px rgb(16 18 40 / 12%) }
    </style>
    <script type="module" src="/widget.js"></script>
    <script type="module">document.querySelector('bellwire-inbox').texts = ${rtl ? arabic : '{}'}</script>
    <header>${rtl ? 'متجر' : 'Shop'}${inPage ? '' : element}</header>
    <main>${inPage ? element : '<i></i>'.repeat(6)}</main>`
}
