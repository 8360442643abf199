import type { Op } from '../store/database.ts'
import type { Device } from './device.ts'

export interface LookUp {
  /** Epoch milliseconds. */
  readonly deadline: number
  readonly signal: AbortSignal
}

/** Whose a token is: a user's device now, or nobody's although it is known (unlinked). */
export type Holder = Device | 'nobody'

/** Which devices a user has: our own registry, or the operator's database, endpoint or function. Asked before every delivery. */
export interface DeviceSource {
  readonly name: string
  /** The devices of these users of this brand now; a user without any may be absent. Throwing means that it cannot answer: the messages become fatal. */
  of(brand: string, userIds: readonly string[], look: LookUp): Promise<ReadonlyMap<string, readonly Device[]>>
  /** Whose these tokens are now, for messages that name their target. A token that was never seen is absent. */
  holders(brand: string, tokens: readonly string[], look: LookUp): Promise<ReadonlyMap<string, Holder>>
  /**
   * Awaited before the provider call, for a source that other processes change too: looks the device up once more, so that revoked() covers
   * their changes.
   */
  refresh?(device: Device): Promise<void>
  /** Asked synchronously right before the provider call: was it unlinked since it was read, as far as this process knows? */
  revoked?(device: Device): boolean
  /** Rows that unlink devices which a provider proved dead, each only if its link is still the one that was read. */
  unlink?(devices: readonly Device[], why: string): readonly Op[]
  close?(): Promise<void>
}
