// Runs the operator with devices and the user's own push service.

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { apnsStandIn } from '../../src/tools/stand-ins/apns.ts'
import { fcmStandIn } from '../../src/tools/stand-ins/fcm.ts'
import { startConfiguredOperator } from '../support/configured-sides.ts'
import { get, post, temporary } from '../support/sides.ts'
import { addressesOf, freePorts, run, start } from './bellwire.ts'

const config = join(import.meta.dirname, '../../examples/devices.yaml')
const keys = { platform: 'example-operator-key-1', admin: 'example-operator-admin-key' }

test("the devices example reaches each user's devices, and `bellwire removals` lists the brake", async (t) => {
  const folder = await temporary(t)
  const operator = start(t, ['operator', '-c', config], {
    ...freePorts,
    BELLWIRE_OPERATOR_STORE: `sqlite:${join(folder, 'devices.db')}`,
  })
  const { url, admin } = await addressesOf(operator)
  const send = (brand: number, user: string) => {
    const activity = { id: brand, brand_id: brand, user_id: user, activity_id: 1, action_id: 1, trigger_hash: 'h' }
    return post(`${url}/channels/push/single`, { activity, title: 'Hello' }, keys.platform)
  }
  const first = await send(1, '1001')
  assert.equal(first.status, 200, first.text)
  assert.equal((await send(2, '1001')).status, 200)
  assert.match((await send(2, '1002')).body.error, /no device/)
  await operator.line(/^pager pager-7: Hello/)
  await operator.line(/^pager pager-8: Hello/)
  const { devices } = (await get(`${admin}/admin/messages/${first.body.push_id}`, keys.admin)).body
  assert.deepEqual(devices.map((each: { rule: string }) => each.rule).sort(), ['pager: beeped', 'pager: unknown'])

  const listed = await run(['removals', '-c', config, '--url', admin])
  assert.deepEqual([listed.code, listed.err], [0, ''])
  assert.match(listed.out, /^pager: removing \(0 removals in 3 sends recently\)/)
  const confirmed = await run(['removals', 'confirm', 'pager', '--url', admin, '--key', keys.admin])
  assert.equal(confirmed.code, 2)
  assert.match(confirmed.err, /409: removals by pager are not stopped/)
  operator.child.kill('SIGTERM')
  assert.equal((await operator.ended).code, 0)
})

test('FCM and APNs are configured with files, and each reaches its own devices', async (t) => {
  const folder = await temporary(t)
  const [google, apple] = await Promise.all([fcmStandIn(), apnsStandIn()])
  t.after(() => Promise.all([google.close(), apple.close()]))
  const tokens = { fcm_token: google.device(), apns: apple.device() }
  const devices = Object.entries(tokens).map(([kind, token]) => ({
    brand: '1',
    userId: '1001',
    kind,
    token,
    linkedAt: '2026-01-01T00:00:00Z',
  }))
  await writeFile(
    join(folder, 'devices.ts'),
    `const devices = ${JSON.stringify(devices)}
     export const source = {
       name: 'file',
       findDevices: async (brand, users) => new Map(brand === '1' && users.includes('1001') ? [['1001', devices]] : []),
       findHolders: async () => new Map(),
     }`,
  )
  await writeFile(join(folder, 'account.json'), JSON.stringify(google.credentials))
  await writeFile(join(folder, 'key.p8'), apple.credentials.key)
  for (const [name, { ca = '' }] of [
    ['google.pem', google],
    ['apple.pem', apple],
  ] as const)
    await writeFile(join(folder, name), ca)
  await writeFile(
    join(folder, 'bellwire.yaml'),
    `operator:
  store: sqlite:operator.db
  port: 0
  keys: [{name: platform, key: ${keys.platform}, brands: [1, 2]}]
  suppression: none
  push:
    devices:
      source: {module: devices.ts}
      services:
        - {provider: fcm, credentials: account.json, testing: {base_url: "${google.url}"}, ca: google.pem}
        - provider: apns
          brands: [1]
          key: key.p8
          key_id: ${apple.credentials.keyId}
          team_id: ${apple.credentials.teamId}
          topic: ${apple.topic}
          testing: {base_url: "${apple.url}", sandbox_url: "${apple.sandboxUrl}"}
          ca: apple.pem
`,
  )
  const { url } = await startConfiguredOperator(t, join(folder, 'bellwire.yaml'))
  const activity = { id: 1, brand_id: 1, user_id: '1001', activity_id: 1, action_id: 1, trigger_hash: 'h' }
  const answer = await post(`${url}/channels/push/single`, { activity, title: 'Hello' }, keys.platform)
  assert.equal(answer.status, 200, answer.text)
  assert.equal(google.shown(tokens.fcm_token)[0]?.title, 'Hello')
  assert.equal(apple.shown(tokens.apns)[0]?.title, 'Hello')
})

test('an export that is not a service, and a duplicate name, are refused with a remedy', async () => {
  const broken = await run(['operator', '-c', config], { BELLWIRE_OPERATOR_PUSH_DEVICES_SERVICES_0_NAME: 'servce' })
  assert.equal(broken.code, 2)
  assert.match(broken.err, /did you mean service\?/)
  const services = '[{module: my-push-service.ts}, {module: my-push-service.ts}]'.replaceAll(
    'my-',
    `${join(config, '..')}/my-`,
  )
  const twice = await run(['operator', '-c', config], { BELLWIRE_OPERATOR_PUSH_DEVICES_SERVICES: services })
  assert.equal(twice.code, 2)
  assert.match(twice.err, /services\[1\].*another push service is also named pager/)
})
