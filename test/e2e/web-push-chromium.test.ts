// Without the internet: Chromium subscribes at a fake of Google's service, which forwards the messages of the stand-in.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import test from 'node:test'
import { addressesOf, freePorts, run, start } from '../cli/bellwire.ts'
import { chromiumOrigin, startFakeGcm } from '../support/gcm/fake-gcm.ts'
import { withoutDesktopChromium } from '../support/services/chromium.ts'
import { temporary } from '../support/sides.ts'
import { until } from '../support/wait.ts'
import { clickSubscribe, launchChromium, openPage, titleOfNotification } from './launch-chromium.ts'
import { webPushSuite } from './web-push-suite.ts'

const skip = await withoutDesktopChromium()

await webPushSuite({
  name: 'Chromium',
  skip,
  way: 'by webhook',
  origin: chromiumOrigin,
  async launch(file, standIn) {
    const browser = await launchChromium(file, await startFakeGcm(file, standIn))
    return (site) => openPage(browser, site)
  },
  further(standIn, open) {
    test('from `bellwire init` to a notification in Chromium in three commands', {
      skip,
      timeout: 120_000,
    }, async (t) => {
      const dir = await temporary(t)
      const config = join(dir, 'bellwire.yaml')
      const written = await run(['init', 'operator', '--push', 'web-push', '--dir', dir])
      assert.equal(written.code, 0, written.err)
      assert.match(written.out, / {2}bellwire push --config \S+ --user 1001 --subscribe\n/)

      // Chromium chooses the origin of its endpoints; the stand-in takes the place of the real service.
      const redirected = 'BELLWIRE_OPERATOR_PUSH_DEVICES_SERVICES_0_TESTING_ORIGINS_0'
      const origins = { [`${redirected}_FROM`]: chromiumOrigin, [`${redirected}_TO`]: standIn.url }
      const { url, admin } = await addressesOf(start(t, ['operator', '-c', config], { ...freePorts, ...origins }))
      const ports = {
        BELLWIRE_OPERATOR_PORT: new URL(url).port,
        BELLWIRE_OPERATOR_ADMIN_PORT: new URL(admin).port,
      }
      const push = start(t, ['push', '-c', config, '--user', '1001', '--subscribe', '0', '--title', 'First'], ports)
      const address = await until(() => /http:\S+(?=\n)/.exec(push.err())?.[0], {
        awaited: 'the page',
        withinMs: 60_000,
      })
      const guessed = await fetch(new URL('/guessed', address), { method: 'POST', body: '{}', headers: json })
      assert.equal(guessed.status, 404)
      const page = await open(t, address)
      await clickSubscribe(page)
      const { code, out, err } = await push.ended
      assert.equal(code, 0, err)
      assert.match(out, /\nOperator +successful after 1 attempt\n/)
      assert.equal(await titleOfNotification(page), 'First')
    })
  },
})

const json = { 'content-type': 'application/json' }
