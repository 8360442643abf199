// The Delivery that sends through one guarded Provider. Each slot has one call in flight.

import { emit } from '../../base/runtime/events.ts'
import { createFairSemaphore } from '../../base/runtime/fair-semaphore.ts'
import type { GuardedProvider } from '../providers/guard.ts'
import type { Provider, Result } from '../providers/provider.ts'
import type { Delivery } from './delivery.ts'

/** @param provider guarded: one result for each message, never rejects. @param concurrency maximum number of calls in flight */
export function throughProvider(provider: Provider & Partial<GuardedProvider>, concurrency: number): Delivery {
  return {
    name: provider.name,
    max: provider.max,
    slots: createFairSemaphore(concurrency, Number.POSITIVE_INFINITY),
    transactional: provider.transactional === true,
    findPauses: (messages) => provider.findPauses?.(messages),
    async deliver(messages, { deadline, signal, checkMessage, fence }) {
      emit('message.calling', { provider: provider.name, refs: messages.map(({ ref }) => ref) })
      const results = await provider.send(messages, { deadline, signal, checkMessage, fence })
      return results.map((result) => (isOfRecipient(result) ? { ...result, service: provider.name } : result))
    },
    states: () => (provider.state ? [provider.state()] : []),
    check: async () => (await provider.check?.()) ?? [],
    close: async () => provider.close?.(),
  }
}

/** Row 59: a wrong configuration that concerns some recipients is no outage of the operator. */
const isOfRecipient = (result: Result): boolean =>
  result.category === 'fatal' && result.blame === 'message' && result.reason === 'misconfigured'
