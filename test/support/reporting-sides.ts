// A platform that gets delivery statuses from an operator, by webhook or by polling.

import type { TestContext } from 'node:test'
import type { OperatorOptions } from '../../src/sides/operator/options.ts'
import type { LaneOptions } from '../../src/sides/platform/options.ts'
import { operatorApi } from '../../src/subjects/providers/operator-api.ts'
import type { Channel } from '../../src/subjects/providers/provider.ts'
import { statusWebhook } from '../../src/subjects/status/senders/webhook.ts'
import { secretOf } from '../conversions/reporting.ts'
import { freePort } from './free-port.ts'
import { type Answer, adminKey, get, keys, post, startPlatform } from './sides.ts'
import { until } from './wait.ts'

export const ways = ['by webhook', 'by polling'] as const
export type Way = (typeof ways)[number]

export interface ReportingPlatform {
  readonly url: string
  /** The operator listens here, and reports so. */
  readonly operator: {
    readonly listen: { readonly port: number }
    readonly status: NonNullable<OperatorOptions['status']>
  }
  enqueue(text: string, channel: Channel): Promise<Answer>
  /** The details of the message with this activity.id. */
  find(id: number): Promise<Answer['body'] | undefined>
  /** Waits until the message satisfies the condition. @returns its details */
  waitUntil(id: number, condition: (message: Answer['body']) => unknown, awaited: string): Promise<Answer['body']>
}

/** Starts the platform of brand 1, with a lane for each channel. The operator is started afterwards. */
export async function reportingPlatform(
  t: TestContext,
  way: Way,
  { store }: { readonly store?: string } = {},
): Promise<ReportingPlatform> {
  const port = await freePort()
  const operator = { url: `http://127.0.0.1:${port}`, apiKey: keys.one.key }
  const secrets = [secretOf('both sides')]
  const lane = (channel: Channel): LaneOptions => ({
    brand: '1',
    channel,
    mode: 'single',
    provider: operatorApi(operator),
    status: way === 'by webhook' ? { secrets } : { poll: { ...operator, everyMs: 20 } },
  })
  const { url } = await startPlatform(t, { ...(store !== undefined && { store }), lanes: [lane('push'), lane('site')] })
  const find = async (id: number): Promise<Answer['body'] | undefined> => {
    const [found] = (await get(`${url}/admin/messages?id=${id}`)).body.messages
    return found === undefined ? undefined : (await get(`${url}/admin/messages/${found.seq}`)).body
  }
  return {
    url,
    operator: {
      listen: { port },
      status: way === 'by webhook' ? { webhooks: [{ brand: '1', sender: statusWebhook({ url, secrets }) }] } : {},
    },
    enqueue: (text, channel) => post(`${url}/admin/activities/${channel}`, text, adminKey.key),
    find,
    waitUntil: (id, condition, awaited) =>
      until(
        async () => {
          const message = await find(id)
          return message && condition(message) ? message : undefined
        },
        { awaited, withinMs: 60_000 },
      ),
  }
}
