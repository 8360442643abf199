// Test helpers: the demo's page in a real Chromium.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { type Browser, chromium as engine, type Page } from 'playwright-core'
import { chromium } from '../support/services/chromium.ts'
import type { Demo } from './demo-child.ts'

export const waiting = { timeout: 20_000 }

/** A demo whose page several tests open. */
export interface RunningDemo {
  readonly demo: Demo
  readonly site: string
  readonly browser: Browser
}

export async function launch(t: TestContext): Promise<Browser> {
  const browser = await engine.launch({
    executablePath: await chromium(),
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  })
  t.after(() => browser.close())
  return browser
}

export interface Opened {
  readonly page: Page
  /** Errors and warnings of the browser while no failure was expected. */
  readonly errors: readonly string[]
  expectFailures(expected: boolean): void
  /** site_notification_ids in the list. */
  ids(): Promise<string[]>
}

/** Opens the page in its own profile. With `operator`, the page calls the operator at that address. */
export async function openPage(browser: Browser, url: string, operator?: string): Promise<Opened> {
  const context = await browser.newContext({ reducedMotion: 'reduce' })
  const page = await context.newPage()
  const errors: string[] = []
  let expected = false
  page.on('pageerror', (error) => errors.push(String(error)))
  page.on('console', (message) => {
    if (!expected && ['error', 'warning'].includes(message.type())) errors.push(message.text())
  })
  if (operator !== undefined) {
    await page.route('**/demo/cast', async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, json: { ...(await response.json()), operator } })
    })
  }
  await page.goto(url)
  return {
    page,
    errors,
    expectFailures(value) {
      expected = value
    },
    ids: () => page.locator('#notes li').evaluateAll(idsOf),
  }
}

/** Runs in the browser. */
export function idsOf(items: readonly unknown[]): string[] {
  return (items as { dataset: { id: string } }[]).map((item) => item.dataset.id)
}

export async function post(url: string, body: object): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  assert.ok(response.ok, `${url} answered ${response.status}`)
  return response.json()
}

export async function eventually(condition: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 20_000
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error('the condition was not true within 20 s')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Waits until the page says this about the last message. */
export async function waitForNote(page: Page, pattern: RegExp): Promise<void> {
  let text = ''
  await eventually(async () => {
    text = (await page.textContent('#send-note')) ?? ''
    return pattern.test(text)
  }).catch(() => assert.match(text, pattern))
}
