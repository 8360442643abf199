// The pages keep their parts and their places. A font changes no part of this comparison, so it is the same on each machine.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import test, { after } from 'node:test'
import { type Browser, chromium as engine, type Page } from 'playwright-core'
import { chromium, withoutChromium } from '../support/services/chromium.ts'
import { adminKey, element, get, post, startPlatform, witness } from '../support/sides.ts'
import { until } from '../support/wait.ts'
import { sidesAtWork } from './at-work.ts'

const skip = await withoutChromium()
const browser = skip
  ? undefined
  : await engine.launch({ executablePath: await chromium(), args: ['--no-sandbox', '--disable-gpu'] })
after(() => browser?.close())

const paths = [
  '/sign-in',
  '',
  '/lanes',
  '/lane?name=2/push',
  '/lanes/pause?lane=2/push',
  '/messages',
  '/messages?find=1001',
  '/message?seq=1',
  '/message?seq=99999',
  '/failed?lane=1/site',
  '/failed/replay?reason=rejected',
  '/person?brand=1&user=1001',
  '/person/erase?brand=1&user=1001',
  '/conversions',
  '/reconciliation',
  '/audit',
  '/help',
]

/** Titles, columns, labels and buttons in their order. Figures are left out. */
const outline = `(() => {
  const parts = document.querySelectorAll('h1, h2, main :is(th[scope=col], label, button, a.button, dt, summary, .empty, [role=alert])')
  const textOf = (part) => [...part.childNodes].filter((node) => node.nodeType === 3 || node.matches('span, bdi, code')).map((node) => node.textContent).join('')
  return [...part_names(parts)]
  function* part_names(all) {
    for (const part of all)
      if (!part.closest('dialog')) yield part.localName + ' ' + textOf(part).replace(/\\s+/g, ' ').trim().replace(/\\d[\\d,.:]*/g, '0')
  }
})()`

/** The parts that leave the window, without those that scroll by themselves, and the buttons and fields that lie on another. */
const misplaced = `(() => {
  const faults = []
  const width = document.documentElement.clientWidth
  if (document.documentElement.scrollWidth > width) faults.push('the page is wider than the window')
  const boxes = []
  for (const part of document.querySelectorAll('header *, main *')) {
    if (part.closest('dialog, .scroll, .hidden, pre, .u-wrap, nav') || part.closest('details:not([open]) > :not(summary)')) continue
    const { left, right, top, bottom, width: own } = part.getBoundingClientRect()
    if (own === 0) continue
    const name = part.localName + '.' + part.className + ' ' + part.textContent.trim().slice(0, 30)
    if (left < -1 || right > width + 1) faults.push(name + ' leaves the window')
    if (part.matches('button, a.button, input, select, textarea')) boxes.push({ name, left, right, top, bottom })
  }
  for (const [i, a] of boxes.entries())
    for (const b of boxes.slice(i + 1))
      if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1) faults.push(a.name + ' lies on ' + b.name)
  return faults
})()`

async function faultsOf(page: Page, width: number, direction = 'ltr'): Promise<unknown> {
  await page.setViewportSize({ width, height: 800 })
  return page.evaluate(`document.documentElement.dir = '${direction}'; ${misplaced}`)
}

test('each page has its parts in their order, inside the window: wide, narrow, and read from right to left', {
  skip,
}, async (t) => {
  const { platform } = await sidesAtWork(t, { plain: true })
  const page = await (browser as Browser).newPage()
  const found: string[] = []
  for (const path of paths) {
    if (path === '') {
      await page.fill('#key', adminKey.key)
      await page.keyboard.press('Enter')
      await page.waitForSelector('nav')
    } else await page.goto(`${platform}/console${path}`)
    const parts = (await page.evaluate(outline)) as string[]
    found.push(`${path || '/'}\n${parts.map((part) => `  ${part}\n`).join('')}`)
    for (const direction of ['ltr', 'rtl'])
      for (const width of [1_200, 360])
        assert.deepEqual(await faultsOf(page, width, direction), [], `${path} ${direction} ${width}`)
  }
  // Write it again with --test-update-snapshots.
  t.assert.fileSnapshot(found.join('\n'), join(import.meta.dirname, 'outlines.txt'), { serializers: [String] })
})

test('the longest names stay inside the window', { skip }, async (t) => {
  const user = 'u'.repeat(255)
  const refusing = witness(() => ({ category: 'failed', reason: 'rejected', error: user, rule: '§7.1 422' }))
  const { url } = await startPlatform(t, {
    lanes: [{ brand: '1', channel: 'push', mode: 'batch', provider: refusing, spanMs: 5 }],
  })
  await post(`${url}/admin/activities/push`, element({ id: 'i'.repeat(128), user_id: user }), adminKey.key)
  await until(async () => (await get(`${url}/admin/summary`)).body.failed === 1, { awaited: 'the message has failed' })
  const page = await (browser as Browser).newPage()
  await page.goto(`${url}/console`)
  await page.fill('#key', adminKey.key)
  await page.keyboard.press('Enter')
  await page.waitForSelector('nav')
  for (const path of [
    '/lanes',
    `/messages?find=${user}`,
    `/messages?find=${'q'.repeat(1_000)}`,
    '/message?seq=1',
    '/failed',
    '/failed/replay?all=true',
    '/audit',
    ...['', '/erase', '/export'].map((part) => `/person${part}?brand=1&user=${user}`),
  ]) {
    await page.goto(`${url}/console${path}`)
    for (const width of [1_200, 360]) assert.deepEqual(await faultsOf(page, width), [], `${path} ${width}`)
  }
  await page.goto(`${url}/console/messages?find=${user}`)
  assert.ok(
    (await page
      .locator('main tbody th')
      .boundingBox()
      .then((box) => box?.width ?? 0)) < 320,
    'the id has several lines',
  )
})
