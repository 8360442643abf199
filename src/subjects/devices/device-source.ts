import type { Op } from '../../base/store/database.ts'
import type { Device } from './device.ts'

export interface LookUp {
  /** Epoch milliseconds. */
  readonly deadline: number
  readonly signal: AbortSignal
}

/** The holder of a known token: the device of its current user, or 'nobody' if it was unlinked. */
export type Holder = Device | 'nobody'

/** Looks up the devices of users before every delivery: in our registry, or in the operator's database, endpoint or function. */
export interface DeviceSource {
  readonly name: string
  /** Returns the current devices of these users; users without devices may be absent. If it throws, the messages become fatal. */
  findDevices(brand: string, userIds: readonly string[], look: LookUp): Promise<ReadonlyMap<string, readonly Device[]>>
  /** Returns the current holders of these tokens, for messages that name their target. A token that was never seen is absent. */
  findHolders(brand: string, tokens: readonly string[], look: LookUp): Promise<ReadonlyMap<string, Holder>>
  /**
   * Reads the device once more, so that isRevoked() knows of changes by other processes. Awaited before the provider call; for
   * sources that several processes change.
   */
  refresh?(device: Device): Promise<void>
  /** Whether, as far as this process knows, the device was unlinked or moved since it was read. Called before each send. */
  isRevoked?(device: Device): boolean
  /** Returns the operations that unlink dead devices, each only if its link has not changed since it was read. */
  unlink?(devices: readonly Device[], why: string): readonly Op[]
  /** Returns the operations that store that a push to each of these devices was accepted: none is `unproven` any more. */
  markProven?(devices: readonly Device[]): readonly Op[]
  close?(): Promise<void>
}
