import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, launch } from 'puppeteer-core'
import { firefox } from './services/firefox.ts'

/** Starts Firefox with a new profile. It ends with the test, or with the file of tests. */
export async function launchFirefox(
  t: { after(work: () => Promise<void>): void },
  preferences: Readonly<Record<string, unknown>> = {},
): Promise<Browser> {
  const profile = await mkdtemp(join(tmpdir(), 'bellwire-firefox-'))
  const browser = await launch({
    browser: 'firefox',
    executablePath: await firefox(),
    headless: true,
    userDataDir: profile,
    timeout: 60_000,
    // Each frame costs processor time, and no test looks at one.
    extraPrefsFirefox: { 'network.proxy.type': 0, 'layout.frame_rate': 10, ...preferences },
  })
  t.after(async () => {
    await browser.close()
    await rm(profile, { recursive: true, force: true, maxRetries: 5 })
  })
  return browser
}
