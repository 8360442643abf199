// Runs examples/inbox-site with the operator of examples/bellwire.yaml, in a browser.

import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { pathToFileURL } from 'node:url'
import { chromium as engine } from 'playwright-core'
import { bundleWidget } from '../../release/bundle-widget.ts'
import { addressesOf, freePorts, start, startProgram } from '../cli/bellwire.ts'
import { freePort } from '../support/free-port.ts'
import { chromium, withoutChromium } from '../support/services/chromium.ts'
import { element, post, temporary } from '../support/sides.ts'
import { until } from '../support/wait.ts'

const examples = join(import.meta.dirname, '../../examples')

test('the site of examples/inbox-site shows a notification of the operator of examples/bellwire.yaml', {
  skip: await withoutChromium(),
  timeout: 90_000,
}, async (t) => {
  const folder = await temporary(t)
  const port = await freePort()
  await writeFile(join(folder, 'widget.js'), await bundleWidget('inbox-element'))
  await cp(join(examples, 'users.csv'), join(folder, 'users.csv'))
  await copy('bellwire.yaml', { ':7003': `:${port}` })
  const { url, admin } = await addressesOf(start(t, ['operator', '--config', join(folder, 'bellwire.yaml')], freePorts))
  await copy('inbox-site/index.html', { 'http://127.0.0.1:7001': url })
  await copy('inbox-site/server.ts', {
    'http://127.0.0.1:7101': admin,
    "import.meta.resolve('bellwire/inbox-element')": `'${pathToFileURL(join(folder, 'widget.js'))}'`,
    'listen(7003': `listen(${port}`,
  })
  startProgram(t, [process.execPath, join(folder, 'server.ts')])
  const site = `http://127.0.0.1:${port}`
  await until(
    () =>
      fetch(site).then(
        ({ ok }) => ok,
        () => false,
      ),
    { withinMs: 20_000, awaited: 'the site answers' },
  )

  const browser = await engine.launch({ executablePath: await chromium(), args: ['--no-sandbox', '--disable-gpu'] })
  t.after(() => browser.close())
  const page = await browser.newPage()
  await page.goto(site)
  await page.click('.bell')
  await page.waitForSelector('[part=empty]')
  await post(`${url}/channels/site/single`, element({}, { title: 'Your order has left' }), 'example-operator-key-1')
  await page.locator('.item', { hasText: 'Your order has left' }).waitFor()
  await page.locator('output', { hasText: 'Your order has left' }).waitFor()

  async function copy(file: string, replaced: Readonly<Record<string, string>>): Promise<void> {
    let text = await readFile(join(examples, file), 'utf8')
    for (const [from, to] of Object.entries(replaced)) {
      if (!text.includes(from)) throw new Error(`${file} does not contain ${from}`)
      text = text.replaceAll(from, to)
    }
    await writeFile(join(folder, file.replace('inbox-site/', '')), text)
  }
})
