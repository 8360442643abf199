// A platform with one operator for the brands 1 and 2, which reports the statuses of messages.

import type { TestContext } from 'node:test'
import type { LaneOptions } from '../../src/sides/platform/options.ts'
import type { Message, Result } from '../../src/subjects/providers/provider.ts'
import { adminKey, get, post, startPlatform, untilSettled, witness } from '../support/sides.ts'
import { report, secretOf } from './reporting.ts'

export const accept = ({ brand, id }: Message): Result => ({
  category: 'successful',
  ref: `${brand}:${id}`,
  rule: 'accepted',
})
export const reader = {
  name: 'reader of brand 1',
  key: 'the-key-of-a-reader',
  scopes: ['counts', 'read'],
  brands: ['1'],
} as const

export async function startCounting(t: TestContext, store?: string, answer: (message: Message) => Result = accept) {
  const provider = witness(answer)
  const lane = (brand: string, channel: 'push' | 'site'): LaneOptions => ({
    brand,
    channel,
    mode: 'batch',
    provider,
    spanMs: 5,
    status: { secrets: [secretOf('operator 1')] },
  })
  const { url, stop } = await startPlatform(t, {
    lanes: [lane('1', 'push'), lane('2', 'push')],
    keys: [adminKey, reader],
    ...(store !== undefined && { store }),
  })
  return {
    url,
    stop,
    async enqueue(records: readonly object[]) {
      await post(`${url}/admin/activities/push`, records, adminKey.key)
      await untilSettled(url)
    },
    report: (...statuses: readonly (readonly [string, string])[]) =>
      report(
        url,
        statuses.map(([ref, status]) => {
          const [brand] = ref.split(':')
          const meta = { activity: { id: 1, brand_id: Number(brand), user_id: '1001' } }
          return { push_id: ref, status, timestamp: '2026-11-25T10:00:00Z', meta }
        }),
      ),
    groups: async (query = '', key: string = adminKey.key) =>
      (await get(`${url}/admin/conversions?${query}`, key)).body.groups as Record<string, unknown>[],
  }
}
