// A lane without an operator removes dead devices within the limits of the removal brake.

import assert from 'node:assert/strict'
import { deviceLink } from '../../src/contract/endpoints.ts'
import { onSqlite } from '../support/engines.ts'
import { gone, witnessService } from '../support/push-services.ts'
import { adminKey, element, get, post, startPlatform } from '../support/sides.ts'
import { until } from '../support/wait.ts'

const links = { name: 'links', key: 'the-key-of-links-of-brand-1', scopes: ['devices'], brands: ['1'] } as const
const users = Array.from({ length: 8 }, (_, i) => `user-${i}`)

onSqlite(
  'if implausibly many devices are reported dead, no more are removed until a person confirms',
  async (t, store) => {
    const fcm = witnessService('fcm_token', () => gone)
    const { url } = await startPlatform(t, {
      store,
      keys: [adminKey, links],
      lanes: [{ brand: '1', channel: 'push', mode: 'batch', provider: 'own', spanMs: 5 }],
      own: {
        push: { devices: { source: 'registry', services: [fcm], removals: { devices: 3, share: 0 } } },
        suppression: 'none',
      },
    })
    for (const user of users) {
      const tokens = [{ token: `token of ${user}`, channel: 'android', provider: 'firebase' }]
      const link = { user_id: user, tokens, timestamp: '2026-01-01T10:00:00Z', origin: 'www.example.com' }
      assert.equal((await post(url + deviceLink.path, link, links.key)).status, 200)
    }
    const countDevices = async (): Promise<number> => {
      const answers = await Promise.all(users.map((user) => get(`${url}/admin/devices?brand=1&user_id=${user}`)))
      return answers.reduce((total, { body }) => total + body.devices.length, 0)
    }
    const send = () =>
      post(
        `${url}/admin/activities/push`,
        users.map((user) => element({ user_id: user })),
        adminKey.key,
      )
    const stateOf = async () => (await get(`${url}/admin/devices/removals`)).body.services[0]

    await send()
    await until(async () => (await stateOf())?.stopped === true, { awaited: 'removals are stopped' })
    await until(() => fcm.received.length >= users.length, { awaited: 'all devices were tried' })
    await until(async () => (await countDevices()) === users.length - 3, { awaited: 'three devices are removed' })

    const confirmed = await post(`${url}/admin/devices/removals/confirm`, { service: 'fcm_token' }, adminKey.key)
    assert.equal(confirmed.status, 200, confirmed.text)
    await send()
    await until(async () => (await countDevices()) === 0, { awaited: 'the other devices are removed' })
  },
)
