import { browserService } from './browser.ts'
import { addressOf, without } from './service.ts'

export const chromiumService = browserService({
  name: 'Chromium',
  variable: 'BELLWIRE_TEST_CHROMIUM',
  proves: 'the pages, the widget and Web Push in a real browser',
  programs: ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'],
  elsewhere: [
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
  ],
  package: 'chromium',
})

/** Returns the path of Chromium or Chrome. */
export async function chromium(): Promise<string> {
  return addressOf(chromiumService)
}

/** The reason to skip a test, or false. */
export const withoutChromium = (): Promise<string | false> => without(chromiumService)
