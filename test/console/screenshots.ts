// Draws the pictures of docs/console.md: each page, light, dark and narrow. Run it with `npm run screenshots`. It is no test of the
// suite, because the fonts of machines differ.

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { type Browser, chromium as engine } from 'playwright-core'
import { clock } from '../../src/base/runtime/clock.ts'
import { emit } from '../../src/base/runtime/events.ts'
import { chromium } from '../support/services/chromium.ts'
import { anna, sidesAtWork } from './at-work.ts'

const images = join(import.meta.dirname, '../../docs/images')
const minuteMs = 60_000
const dayMinutes = 1_440

const shots = [
  { name: 'overview', path: '' },
  { name: 'overview-dark', path: '', scheme: 'dark' },
  { name: 'overview-narrow', path: '', width: 400 },
  { name: 'lane', path: '/lane?name=2/push' },
  { name: 'messages', path: '/messages?find=1001' },
  { name: 'message', path: '/message?seq=1' },
  { name: 'failed', path: '/failed' },
  { name: 'replay', path: '/failed/replay?reason=rejected' },
] as const satisfies readonly Shot[]

interface Shot {
  readonly name: string
  readonly path: string
  readonly scheme?: 'dark'
  readonly width?: number
}

test('the pictures of the console are drawn', async (t) => {
  const passDay = recordMinutes(t)
  const { platform } = await sidesAtWork(t, { plain: true })
  await passDay()
  emit('provider.alert', {
    provider: 'fcm',
    error: 'Google issued no access token (400: Invalid JWT Signature)',
    remedy: 'The key was deleted or belongs to another account: download a new one.',
  })
  const browser = await engine.launch({ executablePath: await chromium(), args: ['--no-sandbox', '--disable-gpu'] })
  t.after(() => browser.close())
  await mkdir(images, { recursive: true })
  for (const shot of shots) await draw(browser, platform, shot)
})

/** @returns a function that lets a day pass for the curves, with its messages */
function recordMinutes(t: TestContext): () => Promise<void> {
  const samples: (() => unknown)[] = []
  const { setInterval } = clock
  t.mock.method(clock, 'setInterval', (action: () => void, ms: number) => {
    if (ms === minuteMs) samples.push(action)
    return setInterval(action, ms)
  })
  return async () => {
    const end = Date.now()
    const now = t.mock.method(clock, 'now', () => end)
    for (let minute = 0; minute <= dayMinutes; minute++) {
      const hours = (minute / 60) % 24
      const busy = 40 + 30 * Math.sin((hours / 24) * 2 * Math.PI - 1.5) + 6 * Math.sin(minute / 5)
      const settle = (category: string, count: number): void => {
        for (let i = 0; i < count; i++)
          emit('item.settled', { lane: '1/push', seq: 0, category, attempt: 1, rule: '', ageMs: 1, untracked: false })
      }
      settle('successful', Math.round(busy))
      settle('failed', minute % 90 < 12 ? 3 : 0)
      now.mock.mockImplementation(() => end - (dayMinutes - minute) * minuteMs)
      for (const sample of samples) sample()
      await new Promise((resolve) => setImmediate(resolve))
    }
    now.mock.restore()
  }
}

async function draw(browser: Browser, url: string, { name, path, scheme, width = 1_200 }: Shot): Promise<void> {
  const context = await browser.newContext({
    viewport: { width, height: 860 },
    colorScheme: scheme ?? 'light',
    locale: 'en-GB',
    timezoneId: 'UTC',
  })
  const page = await context.newPage()
  await page.goto(`${url}/console`)
  await page.fill('#key', anna.key)
  await page.keyboard.press('Enter')
  await page.waitForSelector('nav')
  await page.goto(`${url}/console${path}`)
  if (path === '') await page.waitForSelector('.u-wrap')
  await page.screenshot({ path: join(images, `console-${name}.png`), animations: 'disabled', fullPage: width < 600 })
  await context.close()
}
