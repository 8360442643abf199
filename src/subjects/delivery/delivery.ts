// The delivery of claimed messages: through one Provider (through-provider.ts), or as a fan-out to devices (devices.ts).

import type { Check } from '../../base/runtime/check.ts'
import type { FairSemaphore } from '../../base/runtime/fair-semaphore.ts'
import type { GuardedContext } from '../providers/guard.ts'
import type { Message, Provider, Result } from '../providers/provider.ts'
import type { ServiceState } from '../providers/service-state.ts'

/** The last step of the send path before the settle. A program that embeds Bellwire writes a Provider instead, which is simpler. */
export interface Delivery {
  readonly name: string
  /** Most messages in one call. */
  readonly max: number
  /** Limits the calls in flight, of all send paths that use this delivery. */
  readonly slots: FairSemaphore
  /** It delivers only by committing the `writes` of its results with the settle: before that, nothing has left the process. */
  readonly transactional: boolean
  /** Called before messages are claimed, and again after a wait for a slot: see Provider.findPauses. */
  readonly findPauses: NonNullable<Provider['findPauses']>
  /** One result for each message, in the same order. Never rejects. */
  deliver(messages: readonly Message[], context: DeliveryContext): Promise<readonly Result[]>
  /** The push services, or the provider. */
  states(): readonly ServiceState[]
  check(): Promise<readonly Check[]>
  close(): Promise<void>
}

export interface DeliveryContext extends Required<GuardedContext> {
  /** Reports the result of one message before the results of the others: it is settled soon, and not a second time. */
  readonly report: (message: Message, result: Result) => void
}
