// Both sides with messages in each state, for the tests and the pictures of the console.

import type { TestContext } from 'node:test'
import { operatorApi } from '../../src/subjects/providers/operator-api.ts'
import type { Result } from '../../src/subjects/providers/provider.ts'
import { accepted, device, deviceBook, gone, witnessService } from '../support/push-services.ts'
import { adminKey, element, get, keys, post, startOperator, startPlatform, witness } from '../support/sides.ts'
import { until } from '../support/wait.ts'

export const anna = { name: 'anna', key: 'the-key-of-anna-00001', scopes: ['counts', 'read', 'decide'] } as const
export const reader = { name: 'reader', key: 'the-key-of-the-reader', scopes: ['counts', 'read'] } as const
export const ofBrand1 = {
  name: 'ben',
  key: 'the-key-of-ben-000001',
  scopes: ['counts', 'read', 'decide'],
  brands: ['1'],
} as const
export const consoleKeys = [adminKey, anna, reader, ofBrand1]

/** Names of users that a stranger chose. */
export const hostile = `<img src=x onerror=alert(1)>"'&\u202e`

const answerOf = ({ userId, ref }: { readonly userId: string; readonly ref: string }): Result => {
  if (!/^(14|h)/.test(userId)) return { category: 'successful', ref, rule: 'accepted' }
  const error = userId.startsWith('h') ? `no user ${hostile}` : `user ${userId} has no inbox`
  return { category: 'failed', reason: 'rejected', error, rule: '§7.1 422', status: 422 }
}

/**
 * The device of user 1001 is gone, so pushes to that user fail. Lane 1/site refuses `refused` messages; its activity 8 is paused by
 * anna. Lane 2/push is held: its operator is away. A stranger wrote HTML, unless `plain`.
 */
export async function sidesAtWork(t: TestContext, { refused = 12, plain = false } = {}) {
  const service = witnessService('fcm_token', ({ device: { token } }) => (token === 't-1001' ? gone : accepted))
  const users = ['1001', '1002', '1003', '1004', '1005']
  const source = deviceBook(users.map((userId) => device({ kind: 'fcm_token', token: `t-${userId}`, userId })))
  const operator = await startOperator(t, {
    adminKeys: consoleKeys as never,
    push: { devices: { source, services: [service] } },
  })
  const provider = operatorApi({ url: operator.url, apiKey: keys.one.key })
  const away = operatorApi({ url: 'http://127.0.0.1:9', apiKey: keys.two.key })
  const { url } = await startPlatform(t, {
    keys: consoleKeys as never,
    lanes: [
      { brand: '1', channel: 'push', mode: 'batch', provider, spanMs: 5 },
      { brand: '1', channel: 'site', mode: 'batch', provider: witness(answerOf), spanMs: 5, perSecond: 5_000 },
      { brand: '2', channel: 'push', mode: 'single', provider: away, retry: { firstMs: 3_600_000, mostMs: 3_600_000 } },
    ],
  })
  const enqueue = (channel: string, records: readonly object[]) =>
    post(`${url}/admin/activities/${channel}`, records, adminKey.key)
  await post(
    `${url}/admin/lanes/pause`,
    { lane: '1/site', activity: '8', reason: plain ? 'the price in the text is wrong' : `wrong text ${hostile}` },
    anna.key,
  )
  await enqueue('push', [
    ...users.map((user_id, i) => element({ id: 1_001 + i, user_id }, plain ? {} : { title: hostile })),
    element({ id: 2_001, user_id: '1002', brand_id: 2 }),
    element({ id: 2_002, user_id: '1003', brand_id: 2 }),
  ])
  await enqueue('site', [
    ...Array.from({ length: refused }, (_, i) =>
      element({ user_id: `14${i}`, activity_id: 7 + (i % 3 === 0 ? 3 : 0) }),
    ),
    ...(plain ? [] : [element({ user_id: 'h1', trigger_hash: hostile }, { title: hostile })]),
    ...users.map((user_id) => element({ user_id })),
    ...users.map((user_id) => element({ user_id, activity_id: 8 })),
  ])
  await until(
    async () => {
      const { lanes } = (await get(`${url}/admin/lanes`)).body
      const { successful } = (await get(`${url}/admin/summary`)).body
      return successful === 9 && lanes.find(({ name }: { name: string }) => name === '2/push').state === 'held'
    },
    { awaited: 'all but the held and paused messages are settled' },
  )
  return { operator: operator.url, platform: url }
}
