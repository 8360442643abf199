// How is it set? Each setting with its source, and the reload of the configuration with its result.

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { readConfig } from '../../src/sides/config/load.ts'
import { createConfiguration } from '../../src/tools/cli/reload.ts'
import { adminKey, get, startOperator, temporary } from '../support/sides.ts'
import { anna } from './at-work.ts'
import { signedIn } from './browse.ts'

const written = (level: string, more = '') => `log: {level: ${level}}
operator:
  store: postgres://bell:hidden-password@127.0.0.1/bell
  suppression: none
  push: recording
  keys:
    - {name: platform, key: the-key-of-the-platform-1, brands: [1]}
${more}`

test('the page of the settings names the source of each, hides secrets, and shows the result of a reload', async (t) => {
  const file = join(await temporary(t), 'bellwire.yaml')
  await writeFile(file, written('info'))
  const read = () => readConfig(file, { BELLWIRE_OPERATOR_PORT: '8080' })
  const configuration = createConfiguration({ side: 'operator', started: await read(), read, apply: () => {} })
  const { url } = await startOperator(t, { adminKeys: [adminKey, anna] as never, configuration })
  const browser = await signedIn(url, adminKey.key)
  const row = async (name: string) => {
    const { html } = await browser.look('/console/settings')
    const found = html.split('<tr>').find((each) => each.includes(`>${name}</th>`))
    return found
      ?.replace(/<\/tr>.*/s, '')
      .replaceAll(/<[^>]*>/g, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim()
  }
  assert.equal(await row('operator.port'), 'operator.port 8080 BELLWIRE_OPERATOR_PORT')
  assert.equal(await row('operator.store'), 'operator.store postgres://bell:********@127.0.0.1/bell bellwire.yaml:3')
  assert.equal(await row('operator.push.provider'), 'operator.push.provider recording bellwire.yaml:5')
  assert.equal(await row('operator.keys[0].name'), 'operator.keys[0].name platform bellwire.yaml:7')
  assert.match((await row('operator.host')) ?? '', / default$/)
  const { text } = await browser.look('/console/settings')
  assert.doesNotMatch(text, /hidden-password|the-key-of-the-platform-1/)
  assert.doesNotMatch((await browser.look('/console/settings?only=written')).text, / default /)
  const filtered = await browser.look('/console/settings?find=port')
  assert.match(filtered.html, /id="search" name="find" type="search" value=""/, 'the search for messages stays empty')

  await writeFile(file, written('debug', '  connections: 500\n  trusted_proxies: [10.0.0.0/8, 10.1.0.1]\n'))
  const asked = await browser.look('/console/settings/reload')
  assert.match(asked.text, /A configuration that is not valid changes nothing/)
  const done = await browser.send('/console/settings/reload', { reason: 'to find the fault' })
  assert.match(
    done.text,
    /The configuration was applied\..*Applied: log\.level.*Waiting for a restart: operator\.connections/,
  )
  assert.equal(await row('log.level'), 'log.level debug bellwire.yaml:1')
  assert.match(
    done.text,
    /operator\.connections 20000 after a restart 500 .*operator\.trusted_proxies none after a restart 10\.0\.0\.0\/8, 10\.1\.0\.1/,
  )
  assert.equal((await get(`${url}/admin/audit?act=reload`)).body.entries[0].reason, 'to find the fault')

  await writeFile(file, written('loud'))
  const refused = await browser.send('/console/settings/reload', { reason: 'again' })
  assert.equal(refused.status, 409)
  assert.match(refused.text, /Nothing was changed: bellwire\.yaml:1 log\.level/)
  assert.match((await browser.look('/console/settings')).text, /The latest reload .* changed nothing\. .*log\.level/)

  const other = await signedIn(url, anna.key)
  assert.equal((await other.look('/console/settings')).status, 403)
  assert.doesNotMatch((await other.look('/console')).html, /console\/settings/)
})

test('after a side that did not start, the next reload applies the same changes again', async (t) => {
  const file = join(await temporary(t), 'bellwire.yaml')
  await writeFile(file, written('info'))
  const read = () => readConfig(file, {})
  const undone: ((error: unknown) => void)[] = []
  const configuration = createConfiguration({
    side: 'operator',
    started: await read(),
    read,
    apply: (_config, _how, undo) => void undone.push(undo),
  })
  await writeFile(file, written('info', '  keep: 120d\n'))
  const applied = { applied: ['operator.keep'], restart: [] }
  assert.deepEqual(await configuration.reload(), applied)
  undone[0]?.(new Error('the store is away'))
  assert.equal(configuration.describe().reload?.error, 'the store is away')
  assert.deepEqual(await configuration.reload(), applied)
  assert.deepEqual(await configuration.reload(), { applied: [], restart: [] })
})

test('a reload during the replacement of the side compares with the configuration that runs after it', async (t) => {
  const file = join(await temporary(t), 'bellwire.yaml')
  await writeFile(file, written('info'))
  const read = () => readConfig(file, {})
  let replacing: PromiseWithResolvers<void> | undefined
  const applied: string[] = []
  const undone: ((error: unknown) => void)[] = []
  const configuration = createConfiguration({
    side: 'operator',
    started: await read(),
    read,
    replacing: () => replacing?.promise,
    apply(_config, how, undo) {
      applied.push(how)
      undone.push(undo)
      if (how === 'replaceSide') replacing ??= Promise.withResolvers()
    },
  })
  await writeFile(file, written('info', '  keep: 120d\n'))
  await configuration.reload()
  // The side waits for the requests in progress, of which a second call would be one.
  await assert.rejects(configuration.reload(), { status: 503, message: /another reload is replacing this side/ })
  const bySignal = configuration.reloadLater()
  undone[0]?.(new Error('the store is away'))
  replacing?.resolve()
  assert.deepEqual(await bySignal, { applied: ['operator.keep'], restart: [] })
  assert.deepEqual(applied, ['replaceSide', 'replaceSide'])

  replacing = undefined
  await writeFile(file, 'log: {level: info}\n')
  await assert.rejects(configuration.reload(), { name: 'ConfigError', message: /^operator: the section is missing/ })
})
