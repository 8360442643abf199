import type { Device } from './device.ts'
import { idOf } from './identity.ts'
import { bareLink, linked, merge, owner, type TokenState } from './ownership.ts'

/** Longer than any send: answer budget, the provider's timeout, and waiting in between. */
const keptByDefaultMs = 120_000
/** Users may unlink their devices at any rate: beyond this number the oldest entry is forgotten early. */
const mostRemembered = 100_000

export interface Revocations {
  /** Since now this is known of a device. */
  note(brand: string, id: string, state: TokenState): void
  /** Whether anything is remembered of it. */
  knows(brand: string, id: string): boolean
  /** Whether a device, as it was read, has been unlinked or given to another user since. */
  has(device: Device): boolean
  /** How many devices are remembered. */
  readonly size: number
}

/**
 * Devices that were recently unlinked or moved, in this process or found by refresh(). A send that read its devices earlier checks right before it
 * calls the provider, without another read of the store. It holds facts and merges them by the rule of row 20 with the link that
 * was read, so that a late unlink of an earlier link revokes nothing.
 */
export function createRevocations({ keptMs = keptByDefaultMs, now = Date.now } = {}): Revocations {
  // In the order of their time: the first ones are the oldest.
  const remembered = new Map<string, { readonly state: TokenState; readonly until: number }>()

  function forget(): void {
    const time = now()
    for (const [key, { until }] of remembered) {
      if (until > time && remembered.size < mostRemembered) return
      remembered.delete(key)
    }
  }

  return {
    note(brand, id, state) {
      forget()
      const key = `${brand} ${id}`
      const before = remembered.get(key)
      remembered.delete(key)
      remembered.set(key, { state: before ? merge(before.state, state) : state, until: now() + keptMs })
    },
    knows: (brand, id) => remembered.has(`${brand} ${id}`),
    has(device) {
      // Nobody pays for what did not happen.
      if (remembered.size === 0) return false
      const since = remembered.get(`${device.brand} ${idOf(device)}`)
      if (!since) return false
      return owner(merge(linked(bareLink(device.linkedAt, device.userId)), since.state)) !== device.userId
    },
    get size() {
      forget()
      return remembered.size
    },
  }
}
