// A platform that sends to the devices of its users: a service that works, one that is paused, and one whose removals have stopped.

import type { TestContext } from 'node:test'
import { deviceLink } from '../../src/contract/endpoints.ts'
import type { Device } from '../../src/subjects/devices/device.ts'
import { accepted, away, gone, witnessService, wrongKey } from '../support/push-services.ts'
import { adminKey, element, get, post, startPlatform } from '../support/sides.ts'
import { until } from '../support/wait.ts'
import { consoleKeys, hostile } from './at-work.ts'

const links = { name: 'links', key: 'the-key-of-links-of-brand-1', scopes: ['devices'], brands: ['1'] } as const

/** Users of dead devices: d0 to d3. The removals stop after two. The user `mara` has a device of each kind. */
export async function sendingPlatform(t: TestContext, { plain = false } = {}): Promise<{ readonly url: string }> {
  const android = witnessService('fcm_token', ({ device }) => (device.userId.startsWith('d') ? gone : accepted), {
    name: 'fcm',
  })
  const ios = witnessService(
    'apns',
    () => ({ ...wrongKey, error: plain ? 'InvalidProviderToken' : `not authorized ${hostile}` }),
    { name: 'apns' },
  )
  const huawei = {
    ...witnessService('http:hms', ({ device }) =>
      device.app === 'new' ? { ...away, concerns: 'counterpart', retryAfterMs: 3_600_000 } : accepted,
    ),
    name: 'huawei',
    counterpartOf: ({ app }: Device) => (plain ? `app ${app}` : `${app} ${hostile}`),
  }
  const { url } = await startPlatform(t, {
    keys: [...consoleKeys, links] as never,
    lanes: [
      { brand: '1', channel: 'push', mode: 'batch', provider: 'own', spanMs: 5 },
      { brand: '1', channel: 'site', mode: 'batch', provider: 'own', spanMs: 5 },
    ],
    own: {
      push: {
        devices: {
          source: 'registry',
          services: [android, ios, huawei],
          removals: { devices: 2, share: 0 },
          guard: { breaker: { after: 5, firstMs: 3_600_000, mostMs: 3_600_000 } },
        },
      },
      site: 'inbox',
      suppression: 'none',
    },
  })
  const link = (user_id: string, token: object) =>
    post(
      url + deviceLink.path,
      { user_id, tokens: [token], timestamp: '2026-01-01T10:00:00Z', origin: `www.example.com` },
      links.key,
    )
  const users = ['mara', 'd0', 'd1', 'd2', 'd3', '1002', '1003']
  for (const user of users)
    await link(user, { token: `the-long-token-of-${user}`, channel: 'android', provider: 'firebase' })
  for (const app of ['new', 'old'])
    await link('1002', { token: `at-huawei-${app}`, channel: 'android', provider: 'hms', app })
  await link('mara', { token: 'a'.repeat(64), channel: 'ios', provider: 'apns', app: 'com.shop' })
  await post(
    `${url}/admin/activities/push`,
    users.map((user_id) => element({ user_id })),
    adminKey.key,
  )
  await post(
    `${url}/admin/activities/site`,
    users.map((user_id) => element({ user_id, activity_id: 40, action_id: 41 })),
    adminKey.key,
  )
  const removals = async () => (await get(`${url}/admin/devices/removals`)).body.services
  await until(async () => (await removals()).some(({ stopped }: { stopped: boolean }) => stopped), {
    awaited: 'the removals by fcm have stopped',
  })
  const services = async () => (await get(`${url}/admin/services`)).body.services
  await until(async () => (await services()).filter(isPaused).length === 2, {
    awaited: 'apns is paused, and huawei in part',
  })
  return { url }
}

interface Listed {
  readonly paused?: object
  readonly counterparts?: readonly Listed[]
}

const isPaused = ({ paused, counterparts = [] }: Listed): boolean => paused !== undefined || counterparts.some(isPaused)
