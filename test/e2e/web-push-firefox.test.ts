// Without the internet: Firefox subscribes at the stand-in, which replaces Mozilla's push service.

import { launchFirefox } from '../support/launch-firefox.ts'
import { withoutFirefox } from '../support/services/firefox.ts'
import { webPushSuite } from './web-push-suite.ts'

await webPushSuite({
  name: 'Firefox',
  skip: await withoutFirefox(),
  way: 'by polling',
  async launch(file, standIn) {
    const browser = await launchFirefox(file, {
      'dom.push.enabled': true,
      'dom.push.connection.enabled': true,
      'dom.push.serverURL': standIn.autopush,
      'dom.push.testing.allowInsecureServerURL': true,
      'dom.push.testing.ignorePermission': true,
      'permissions.default.desktop-notification': 1,
      // Web Push requires HTTPS. This setting allows a local page over HTTP.
      'dom.serviceWorkers.testing.enabled': true,
      // Firefox shows notifications itself, because there is no desktop.
      'alerts.useSystemBackend': false,
    })
    return async (site) => {
      const page = await browser.newPage()
      await page.goto(site)
      return page
    }
  },
})
