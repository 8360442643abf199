import { clock } from '../../base/runtime/clock.ts'
import type { Device } from './device.ts'
import { idOf } from './identity.ts'
import { bareLink, linked, merge, owner, type TokenState } from './ownership.ts'

/** Longer than any send can take: the answer budget, the provider's timeout and all waits in between. */
const keptByDefaultMs = 120_000
/** A bound on memory, because users may unlink without limit: beyond it, the oldest entry is dropped early. */
const maxEntries = 100_000

export interface Revocations {
  /** Records the new state of a device. */
  record(brand: string, id: string, state: TokenState): void
  /** Whether a state of the device is recorded. */
  isRecorded(brand: string, id: string): boolean
  /** Whether the device was unlinked, or moved to another user, since it was read. */
  isRevoked(device: Device): boolean
  /** How many devices are recorded. */
  readonly size: number
}

/**
 * Keeps in memory the devices that were recently unlinked or moved, by this process or as seen by refresh(). A send checks it
 * right before it calls the provider, without reading the store again. The recorded state is merged with the link that was
 * read, by the rule of row 20, so that a late unlink of an earlier link revokes nothing.
 */
export function createRevocations({ keptMs = keptByDefaultMs, now = clock.monotonic } = {}): Revocations {
  // Ordered by time: the first entries are the oldest.
  const entries = new Map<string, { readonly state: TokenState; readonly until: number }>()

  function dropExpired(): void {
    const time = now()
    for (const [key, { until }] of entries) {
      if (until > time && entries.size < maxEntries) return
      entries.delete(key)
    }
  }

  return {
    record(brand, id, state) {
      dropExpired()
      const key = `${brand} ${id}`
      const before = entries.get(key)
      entries.delete(key)
      entries.set(key, { state: before ? merge(before.state, state) : state, until: now() + keptMs })
    },
    isRecorded: (brand, id) => entries.has(`${brand} ${id}`),
    isRevoked(device) {
      // Saves the hash of the token when there are no revocations.
      if (entries.size === 0) return false
      const since = entries.get(`${device.brand} ${idOf(device)}`)
      if (!since) return false
      return owner(merge(linked(bareLink(device.linkedAt, device.userId)), since.state)) !== device.userId
    },
    get size() {
      dropExpired()
      return entries.size
    },
  }
}
