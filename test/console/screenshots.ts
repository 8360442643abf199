// Draws the pictures of docs/console.md: each page, light, dark and narrow. Run it with `npm run screenshots`. It is no test of the
// suite, because the fonts of machines differ.

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { type Browser, chromium as engine } from 'playwright-core'
import { clock } from '../../src/base/runtime/clock.ts'
import { emit } from '../../src/base/runtime/events.ts'
import { readConfig } from '../../src/sides/config/load.ts'
import { createConfiguration } from '../../src/tools/cli/reload.ts'
import { importLines, runReconciliation } from '../reconcile/platform.ts'
import { listOf, startListOperator } from '../support/list-operator.ts'
import { chromium } from '../support/services/chromium.ts'
import { adminKey, post, startPlatform, temporary } from '../support/sides.ts'
import { anna, sidesAtWork } from './at-work.ts'
import { sendingPlatform } from './sending.ts'

const folder = process.env.PICTURES
const pictures = folder ?? join(import.meta.dirname, '../../docs/images')
const minuteMs = 60_000
const dayMinutes = 1_440

/** The platforms of the pictures: with lanes in each state, with push services of its own, with lists that differ, with a configuration. */
type World = 'work' | 'sending' | 'lists' | 'settings'

const shots: readonly Shot[] = [
  { name: 'overview', path: '' },
  { name: 'overview-dark', path: '', scheme: 'dark' },
  { name: 'overview-narrow', path: '', width: 400 },
  { name: 'overview-rtl', path: '', direction: 'rtl', states: true },
  { name: 'lanes', path: '/lanes' },
  { name: 'lane', path: '/lane?name=2/push' },
  { name: 'lane-dark', path: '/lane?name=2/push', scheme: 'dark', states: true },
  { name: 'messages', path: '/messages?find=1001' },
  { name: 'messages-empty', path: '/messages?find=nobody', states: true },
  { name: 'message', path: '/message?seq=1' },
  { name: 'message-narrow', path: '/message?seq=1', width: 400, states: true },
  { name: 'message-rtl', path: '/message?seq=1', direction: 'rtl', states: true },
  { name: 'failed', path: '/failed' },
  { name: 'failed-narrow', path: '/failed', width: 400, states: true },
  { name: 'replay', path: '/failed/replay?reason=rejected' },
  { name: 'error', path: '/message?seq=99999', states: true },
  { name: 'push', path: '/push', world: 'sending' },
  { name: 'devices', path: '/devices?brand=1&user=1002', world: 'sending' },
  { name: 'person', path: '/person?brand=1&user=mara', world: 'sending' },
  { name: 'erase', path: '/person/erase?brand=1&user=mara', world: 'sending' },
  { name: 'export', path: '/person/export?brand=1&user=mara', world: 'sending' },
  { name: 'conversions', path: '/conversions', world: 'sending' },
  { name: 'conversion-list', path: '/conversions', world: 'sending', clicks: ['table a'] },
  { name: 'audit', path: '/audit', world: 'sending' },
  { name: 'reconciliation', path: '/reconciliation', world: 'lists' },
  { name: 'run', path: '/reconciliation', world: 'lists', clicks: ['table a'] },
  { name: 'discrepancies', path: '/reconciliation', world: 'lists', clicks: ['table a', 'text=List users'] },
  { name: 'reconciliation-empty', path: '/reconciliation', states: true },
  { name: 'lanes-narrow', path: '/lanes', width: 400, states: true },
  { name: 'lane-paused', path: '/lane?name=1/site', states: true },
  { name: 'cancel', path: '/lanes/cancel?lane=2/push', states: true },
  { name: 'failed-empty', path: '/failed?activity=99', states: true },
  { name: 'failed-dark', path: '/failed', scheme: 'dark', states: true },
  { name: 'failed-rtl', path: '/failed', direction: 'rtl', states: true },
  { name: 'push-empty', path: '/push', states: true },
  { name: 'push-narrow', path: '/push', world: 'sending', width: 400, states: true },
  { name: 'push-dark', path: '/push', world: 'sending', scheme: 'dark', states: true },
  { name: 'push-rtl', path: '/push', world: 'sending', direction: 'rtl', states: true },
  { name: 'person-empty', path: '/person', states: true },
  { name: 'person-narrow', path: '/person?brand=1&user=mara', world: 'sending', width: 400, states: true },
  { name: 'devices-empty', path: '/devices?brand=1&user=nobody', states: true },
  { name: 'conversions-narrow', path: '/conversions', world: 'sending', width: 400, states: true },
  { name: 'reconciliation-narrow', path: '/reconciliation', world: 'lists', width: 400, states: true },
  { name: 'audit-narrow', path: '/audit', world: 'sending', width: 400, states: true },
  { name: 'settings-narrow', path: '/settings?only=written', world: 'settings', width: 400, states: true },
  { name: 'settings-dark', path: '/settings', world: 'settings', scheme: 'dark', states: true },
  { name: 'change', path: '/lanes/change?lane=2/push', states: true },
  { name: 'try-none', path: '/lanes/try?lane=1/push', states: true },
  { name: 'refused', path: '/reconciliation/start?brand=1&field=blocked', clicks: ['button.primary'], states: true },
  { name: 'overview-forced', path: '', forced: true, states: true },
  { name: 'ended', path: '/sign-in?ended=session', states: true },
  { name: 'help', path: '/help', states: true },
  { name: 'lost', path: '/lanes', lost: true, states: true },
  // The last one: it erases the person of the others.
  {
    name: 'erasure',
    path: '/person/erase?brand=1&user=mara',
    world: 'sending',
    clicks: ['button.primary'],
  },
  { name: 'settings', path: '/settings?only=written', world: 'settings' },
  { name: 'sign-in', path: '/sign-in', states: true },
]

interface Shot {
  readonly name: string
  readonly path: string
  readonly scheme?: 'dark'
  readonly width?: number
  readonly direction?: 'rtl'
  /** What to click on the page of the path, one after the other. */
  readonly clicks?: readonly string[]
  /** The system chooses the colours. */
  readonly forced?: true
  /** The side cannot be reached any more. */
  readonly lost?: true
  /** A further state of a page: drawn only to be looked at, with PICTURES=FOLDER. */
  readonly states?: true
  /** Default: work. */
  readonly world?: World
}

test('the pictures of the console are drawn', async (t) => {
  const passDay = recordMinutes(t)
  // One after the other: the overview shows the alerts of the whole process.
  const starts: Readonly<Record<World, () => Promise<string>>> = {
    work: async () => (await sidesAtWork(t, { plain: true })).platform,
    sending: () => startSending(t),
    lists: () => startWithLists(t),
    settings: () => startWithSettings(t),
  }
  const urls = new Map<World, string>([['work', await starts.work()]])
  await passDay()
  emit('provider.alert', {
    provider: 'fcm',
    error: 'Google issued no access token (400: Invalid JWT Signature)',
    remedy: 'The key was deleted or belongs to another account: download a new one.',
  })
  const browser = await engine.launch({ executablePath: await chromium(), args: ['--no-sandbox', '--disable-gpu'] })
  t.after(() => browser.close())
  await mkdir(pictures, { recursive: true })
  for (const shot of shots) {
    if (shot.states && folder === undefined) continue
    const { world = 'work' } = shot
    if (!urls.has(world)) urls.set(world, await starts[world]())
    await draw(browser, urls.get(world) as string, shot)
  }
})

async function startSending(t: TestContext): Promise<string> {
  const { url } = await sendingPlatform(t, { plain: true })
  await importLines(url, '1', [{ user_id: 'mara', blocked: false, consent_push_notification: true }])
  await post(
    `${url}/admin/lanes/pause`,
    { lane: '1/push', activity: '7', reason: 'the price in the text is wrong' },
    anna.key,
  )
  await post(`${url}/admin/lanes/resume`, { lane: '1/push', activity: '7', reason: 'corrected' }, anna.key)
  return url
}

async function startWithLists(t: TestContext): Promise<string> {
  const operator = await startListOperator(t, (response) => void response.end(listOf(['mara', 'tom', 'vera'])))
  const { url } = await startPlatform(t, {
    lanes: [],
    reconciliation: [
      { brand: '1', url: operator.url, apiKey: 'the-key-of-brand-1', fields: ['blocked', 'excluded'] },
    ] as never,
  })
  await importLines(url, '1', [
    { user_id: 'mara', blocked: false },
    { user_id: 'free', blocked: true },
  ])
  await runReconciliation(url, '1', 'blocked')
  await runReconciliation(url, '1', 'excluded')
  return url
}

async function startWithSettings(t: TestContext): Promise<string> {
  const file = join(await temporary(t), 'bellwire.yaml')
  await writeFile(file, configurationOfPictures)
  const read = () => readConfig(file, { BELLWIRE_PLATFORM_PORT: '7002' })
  const configuration = createConfiguration({ side: 'platform', started: await read(), read, apply: () => {} })
  await writeFile(file, `${configurationOfPictures}  keep_audit: 1825d\n`)
  await configuration.reload()
  const { url } = await startPlatform(t, { lanes: [], configuration })
  return url
}

const configurationOfPictures = `platform:
  store: postgres://bellwire:a-password@127.0.0.1/platform
  admin: {port: 7102}
  keys:
    - {name: crm, key: the-key-of-the-crm-0001, scopes: [enqueue, counts], brands: [1]}
    - {name: on call, key: the-key-of-who-is-on-call, scopes: [counts, read, decide, audit, reload]}
  lanes:
    - {brand: 1, channel: push, mode: batch, per_second: 200, to: {provider: operator-api, url: "http://127.0.0.1:7001", api_key: the-key-of-brand-1}}
`

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

async function draw(
  browser: Browser,
  url: string,
  { name, path, scheme, direction, width = 1_200, clicks = [], lost, forced }: Shot,
): Promise<void> {
  const context = await browser.newContext({
    viewport: { width, height: 860 },
    colorScheme: scheme ?? 'light',
    ...(forced && { forcedColors: 'active' }),
    locale: 'en-GB',
    timezoneId: 'UTC',
  })
  const page = await context.newPage()
  await page.goto(`${url}/console`)
  if (!path.startsWith('/sign-in')) {
    await page.fill('#key', adminKey.key)
    await page.keyboard.press('Enter')
    await page.waitForSelector('nav')
  }
  const stream =
    lost && page.waitForResponse((response) => response.headers()['content-type']?.startsWith('text/event') === true)
  await page.goto(`${url}/console${path}`)
  await stream
  for (const selector of clicks) {
    if ((await page.locator('.ask textarea').count()) > 0) await page.fill('.ask textarea', 'requested by mail')
    await Promise.all([page.waitForNavigation(), page.locator(selector).first().click()])
  }
  if (lost) {
    await page.evaluate("document.getElementById('live').dispatchEvent(new Event('htmx:sse:error', { bubbles: true }))")
    await page.waitForSelector('[data-lost]')
  }
  if (direction) await page.evaluate(`document.documentElement.dir = '${direction}'`)
  if (path === '') await page.waitForSelector('.u-wrap')
  const file = join(pictures, `console-${name}.png`)
  await page.screenshot({ path: file, animations: 'disabled', fullPage: width < 600 })
  await context.close()
}
