// The page of a demo in Chromium. The tests share one demo and one browser.

import test, { type TestContext } from 'node:test'
import { withoutChromium } from '../support/services/chromium.ts'
import { startDemo } from './demo-child.ts'
import { testInbox } from './demo-inbox.ts'
import { testLayout } from './demo-layout.ts'
import { launch, type RunningDemo } from './demo-page.ts'
import { testPhones } from './demo-phones.ts'
import { testRestart } from './demo-restart.ts'
import { testExcluded, testGreeting } from './demo-texts.ts'
import { testWay } from './demo-way.ts'

test('the page of the demo', { skip: await withoutChromium() }, async (t) => {
  const demo = await startDemo(t, ['--port', '0'])
  const [, site = ''] = await demo.printed(/Page\s+(http:\/\/\S+)/)
  await demo.printed(/From now on a message every few seconds/)
  const running = { demo, site, browser: await launch(t) }
  const part = (title: string, run: (t: TestContext, running: RunningDemo) => Promise<void>): Promise<void> =>
    t.test(title, async (t) => {
      t.after(() => Promise.all(running.browser.contexts().map((context) => context.close())))
      await run(t, running)
    })
  await part('it shows the notifications of its user only, also after the connection breaks', testInbox)
  await part('pushes appear on the phones, wait for offline phones, and never reach an excluded user', testPhones)
  await part('toasts cover no content, and no element is too narrow for its text', testLayout)
  await part('it explains that an excluded user gets no messages', testExcluded)
  await part('it greets by the hour', testGreeting)
  await part('each button causes its fault, and the page says what is so and what becomes of the messages', testWay)
  await part('an open page reconnects after a restart, and reports correctly which messages were sent', testRestart)
})
