import { type Browser, browserService } from './browser.ts'
import { addressOf, without } from './service.ts'

const desktop: Browser = {
  name: 'desktop Chromium',
  variable: 'BELLWIRE_TEST_DESKTOP_CHROMIUM',
  proves: 'Web Push in a real Chromium',
  programs: ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'],
  elsewhere: [
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
  ],
  package: 'chromium',
}

export const desktopChromiumService = browserService(desktop)

/** Chromium without the windows of a desktop takes half the processor time, but receives no push messages. */
export const chromiumService = browserService({
  name: 'Chromium',
  variable: 'BELLWIRE_TEST_CHROMIUM',
  proves: 'the pages and the widget in a real browser',
  programs: ['chromium-headless-shell'],
  elsewhere: [],
  package: 'chromium-headless-shell',
  instead: desktop,
})

/** Returns the path of Chromium or Chrome. */
export const chromium = (): Promise<string> => addressOf(chromiumService)

/** Returns the path of a Chromium or Chrome that receives push messages. */
export const desktopChromium = (): Promise<string> => addressOf(desktopChromiumService)

/** The reason to skip a test, or false. */
export const withoutChromium = (): Promise<string | false> => without(chromiumService)

/** The reason to skip a test of push messages, or false. */
export const withoutDesktopChromium = (): Promise<string | false> => without(desktopChromiumService)
