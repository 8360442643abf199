// An operator with brand 1 in `store` and brand 2 in a further database.

import type { TestContext } from 'node:test'
import { readStatusPage } from '../../../src/contract/status-page.ts'
import type { StatusRecord } from '../../../src/contract/status-record.ts'
import { createSubscriberToken } from '../../../src/http/subscriber-token.ts'
import type { OperatorOptions } from '../../../src/operator/options.ts'
import { type Answer, adminKey, get, keys, post, startOperator, type Witness, witness } from '../../support/sides.ts'
import type { TwoStores } from '../../support/two-stores.ts'

export const secret = 'the-secret-of-the-tests-of-several-stores'
export const admin = { ...adminKey, scopes: [...adminKey.scopes, 'devices'] } as const

/** Brand 2 lives in store 1. */
export const divided = ([store, url]: TwoStores['urls']): Pick<OperatorOptions, 'store' | 'stores'> => ({
  store,
  stores: [{ number: 1, url, brands: ['2'] }],
})

export async function start(
  t: TestContext,
  { stops }: Pick<TwoStores, 'stops'>,
  { provider = witness(), ...options }: Partial<OperatorOptions> & { readonly provider?: Witness },
) {
  const operator = await startOperator(t, {
    status: {},
    app: { secrets: [secret] },
    adminKeys: [admin],
    push: provider,
    ...options,
  })
  stops.push(operator.stop)
  return {
    url: operator.url,
    devices: operator.devices,
    stop: operator.stop,
    statusesOf: () => operator.statuses,
    provider,
  }
}

export const sendBatch = (url: string, channel: 'push' | 'site', batch: readonly object[]): Promise<Answer> =>
  post(`${url}/channels/${channel}/batch`, batch, keys.both.key)

/** A request to /app of a user of a brand. */
export async function asUser(brand: string, userId = '1001'): Promise<{ authorization: string }> {
  const token = await createSubscriberToken({ secret, brand, userId, ttlSeconds: 60 })
  return { authorization: `Bearer ${token}` }
}

export interface Polled {
  readonly records: readonly StatusRecord[]
  readonly next: string
}

/** One page of statuses of both brands. */
export async function poll(url: string, after = '', limit = 1_000, key: string = keys.both.key): Promise<Polled> {
  const { status, text } = await get(`${url}/messages/status?limit=${limit}${after && `&after=${after}`}`, key)
  if (status !== 200) throw new Error(`status ${status}: ${text}`)
  const page = readStatusPage(text)
  if (typeof page === 'string') throw new Error(page)
  return page as Polled
}

/** All pages, until one is empty. */
export async function pollAll(url: string, after = '', limit = 1_000): Promise<Polled> {
  const records: StatusRecord[] = []
  for (let next = after; ; ) {
    const page = await poll(url, next, limit)
    next = page.next
    if (page.records.length === 0) return { records, next }
    records.push(...page.records)
  }
}
