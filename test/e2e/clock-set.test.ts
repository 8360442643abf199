// Both sides as processes whose machine's clock is set by hours while messages wait.

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import test from 'node:test'
import { addressesOf, start } from '../cli/bellwire.ts'
import { listenLocally } from '../support/listen-locally.ts'
import { faketimeService } from '../support/services/faketime.ts'
import { addressOf, without } from '../support/services/service.ts'
import { elements, get, post, temporary } from '../support/sides.ts'
import { until } from '../support/wait.ts'

const [operatorKey, crmKey] = ['the-key-of-the-operator-1', 'the-key-of-the-platform-1']
const messages = 20

test('no message is doubled or late while both clocks are set back by 3 h, and then forward by 6 h', {
  skip: await without(faketimeService),
  timeout: 60_000,
}, async (t) => {
  const folder = await temporary(t)
  const library = await addressOf(faketimeService)
  const setClock = (side: string, offset: string) => writeFile(join(folder, side), `${offset}\n`)
  const clockOf = (side: string) => ({
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: join(folder, side),
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  })
  let asksForPause = true
  const accepted: string[] = []
  const provider = createServer((request, response) => {
    request.resume().on('end', () => {
      if (asksForPause) response.writeHead(503, { 'retry-after': '2' }).end()
      else {
        accepted.push(request.url ?? '')
        response.end('{"id":"p"}')
      }
    })
  })
  const { url: providerUrl } = await listenLocally(t, provider)

  const push = {
    provider: 'http',
    url: `${providerUrl}/messages/{{push_id}}`,
    body: { text: '{{body}}' },
    id: '/id',
  }
  const keys = [{ name: 'platform', key: operatorKey, brands: ['1'] }]
  const admin = { host: '127.0.0.1', port: 0 }
  const operatorConfig = { port: 0, admin, store: `sqlite:${folder}/o.db`, keys, push, suppression: 'none' }
  await writeFile(join(folder, 'o.json'), JSON.stringify({ operator: operatorConfig }))
  await setClock('operator', '+0')
  const operator = start(t, ['operator', '--config', join(folder, 'o.json')], clockOf('operator'))
  const { url } = await addressesOf(operator)

  const to = { provider: 'operator-api', url, api_key: operatorKey }
  const lanes = [{ brand: 1, channel: 'push', to, mode: 'single', retry: { first: '100ms', most: '1s' } }]
  const crm = [{ name: 'crm', key: crmKey, scopes: ['enqueue', 'counts', 'read', 'decide', 'attributes'] }]
  const platformConfig = { port: 0, admin, store: `sqlite:${folder}/p.db`, keys: crm, lanes }
  await writeFile(join(folder, 'p.json'), JSON.stringify({ platform: platformConfig }))
  await setClock('platform', '+0')
  const platform = start(t, ['platform', '--config', join(folder, 'p.json')], clockOf('platform'))
  const { admin: platformUrl } = await addressesOf(platform)

  let sent = 0
  for (const hours of [-3, 3]) {
    asksForPause = true
    const [paused, held] = [operator.out().length, platform.out().length]
    await post(`${platformUrl}/admin/activities/push`, elements(messages), crmKey)
    sent += messages
    await until(() => operator.out().includes('provider.paused', paused), { awaited: 'the operator pauses' })
    await until(() => /item\.retry|lane\.held/.test(platform.out().slice(held)), { awaited: 'the platform waits' })
    const offset = `${hours < 0 ? '-' : '+'}${Math.abs(hours)}h`
    await Promise.all([setClock('operator', offset), setClock('platform', offset)])
    asksForPause = false
    const settled = async (): Promise<boolean> =>
      (await get(`${platformUrl}/admin/summary`, crmKey)).body.successful === sent
    await until(settled, { awaited: 'all messages are delivered', withinMs: 30_000 })
    for (const side of [operator, platform]) {
      const { time } = JSON.parse(side.out().trim().split('\n').at(-1) as string)
      const ahead = (Date.parse(time) - Date.now()) / 3_600_000
      assert.ok(Math.abs(ahead - hours) < 1, `the clock was set: ${time}`)
    }
    assert.equal(accepted.length, sent)
    assert.equal(new Set(accepted).size, sent, 'none is sent twice')
  }
})
