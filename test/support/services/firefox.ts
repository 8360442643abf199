import { browserService } from './browser.ts'
import { addressOf, without } from './service.ts'

export const firefoxService = browserService({
  name: 'Firefox',
  variable: 'BELLWIRE_TEST_FIREFOX',
  proves: 'Web Push in a real Firefox',
  programs: ['firefox-esr', 'firefox'],
  elsewhere: ['/Applications/Firefox.app/Contents/MacOS/firefox'],
  package: 'firefox-esr',
})

/** Returns the path of Firefox. */
export async function firefox(): Promise<string> {
  return addressOf(firefoxService)
}

/** The reason to skip a test, or false. */
export const withoutFirefox = (): Promise<string | false> => without(firefoxService)
