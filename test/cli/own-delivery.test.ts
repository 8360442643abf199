// Runs a platform whose lanes deliver without an operator.

import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { deviceLink } from '../../src/contract/endpoints.ts'
import { fcmStandIn } from '../../src/tools/stand-ins/fcm.ts'
import { startConfiguredPlatform } from '../support/configured-sides.ts'
import { element, get, post, temporary } from '../support/sides.ts'
import { until } from '../support/wait.ts'
import { run } from './bellwire.ts'

const example = join(import.meta.dirname, '../../examples/own-delivery.yaml')
const key = 'example-platform-key-1'
const settled = (url: string) =>
  until(async () => (await get(`${url}/admin/summary`, key)).body.waiting === 0, { awaited: 'all are settled' })

test('the example delivers to a file and to the inbox', async (t) => {
  const folder = await temporary(t)
  const { url } = await startConfiguredPlatform(t, example, {
    BELLWIRE_PLATFORM_STORE: `sqlite:${join(folder, 'platform.db')}`,
    BELLWIRE_PLATFORM_OWN_PUSH: `{provider: recording, file: ${join(folder, 'pushes.ndjson')}}`,
  })
  for (const channel of ['push', 'site']) await post(`${url}/admin/activities/${channel}`, [element({ id: 31 })], key)
  await settled(url)
  const { body: counts } = await get(`${url}/admin/summary`, key)
  assert.deepEqual([counts.successful, counts.failed], [2, 0])
  const pushes = (await readFile(join(folder, 'pushes.ndjson'), 'utf8')).trim().split('\n')
  assert.equal(pushes.length, 1)
})

test('pushes go to FCM, for devices that an operator linked and users that the CRM allows', async (t) => {
  const folder = await temporary(t)
  const google = await fcmStandIn()
  t.after(() => google.close())
  const token = google.device()
  await writeFile(join(folder, 'account.json'), JSON.stringify(google.credentials))
  await writeFile(join(folder, 'google.pem'), google.ca ?? '')
  const config = join(folder, 'bellwire.yaml')
  await writeFile(
    config,
    `platform:
  store: sqlite:platform.db
  keys:
    - {name: crm, key: ${key}, scopes: [enqueue, counts, read, decide, attributes]}
    - {name: links, key: example-links-key-of-brand-1, scopes: [devices], brands: [1]}
  own:
    push:
      devices:
        services: [{provider: fcm, credentials: account.json, testing: {base_url: "${google.url}"}, ca: google.pem}]
  lanes: [{brand: 1, channel: push, to: own}]
`,
  )
  const { url } = await startConfiguredPlatform(t, config)
  const link = {
    user_id: '1001',
    tokens: [{ token, channel: 'android', provider: 'firebase' }],
    timestamp: '2026-01-01T10:00:00Z',
    origin: 'www.example.com',
  }
  assert.equal((await post(url + deviceLink.path, link, 'example-links-key-of-brand-1')).status, 200)
  await post(`${url}/admin/attributes/1`, '{"user_id":"1001","consent_push_notification":true}', key, {
    'content-type': 'application/x-ndjson',
  })
  await post(`${url}/admin/activities/push`, [element({ id: 32 })], key)
  await settled(url)
  assert.equal(google.shown(token)[0]?.title, 'Hello')
  const explained = await run(['explain', '32', '--url', url, '--key', key])
  assert.equal(explained.code, 0, explained.err)
  assert.match(explained.out, /Delivery {4}by the platform itself: successful after 1 attempt/)
  assert.match(explained.out, /platform +device 1 +successful/)
  const checked = await run(['doctor', '-c', config])
  assert.match(checked.out, /platform\.own\.push fcm: /)
})

test('a lane without a provider, and a provider without a lane, are refused with a remedy', async (t) => {
  const config = join(await temporary(t), 'bellwire.yaml')
  const keys = `keys: [{name: crm, key: ${key}, scopes: [enqueue]}]`
  await writeFile(config, `platform: {${keys}, own: {site: inbox}, lanes: [{brand: 1, channel: push, to: own}]}\n`)
  const { code, err } = await run(['config', '--check', '-c', config])
  assert.equal(code, 2)
  assert.match(err, /platform\.own\.push: is missing, but a lane delivers push messages with to: own/)
  assert.match(err, /platform\.own\.site: is not used by any lane/)
})
