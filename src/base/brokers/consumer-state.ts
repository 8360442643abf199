// The state of consumers, for /admin, the metrics and the words of /readyz.

import { within } from '../runtime/within.ts'
import type { BrokerConsumer, ConsumerStatus } from './consumer.ts'

const lagTimeoutMs = 2_000

/** The states for /readyz, by name. They contain no error texts, because no key is needed there. */
export function consumerStates(consumers: readonly BrokerConsumer[]): { readonly consumers?: object } {
  if (consumers.length === 0) return {}
  return { consumers: Object.fromEntries(consumers.map((consumer) => [consumer.name, statusOf(consumer).state])) }
}

/** A consumer of your own may report no status. */
export function statusOf(consumer: BrokerConsumer): ConsumerStatus {
  return consumer.status?.() ?? { state: 'consuming', since: 0 }
}

/** Undefined if the broker does not answer soon. */
export async function readLag(consumer: BrokerConsumer): Promise<number | undefined> {
  try {
    return await within(lagTimeoutMs, consumer.readLag?.() ?? Promise.resolve(undefined))
  } catch {
    return undefined
  }
}
