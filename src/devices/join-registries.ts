// One registry over the registries of several stores. A device is in the store of its brand.

import type { Op } from '../store/database.ts'
import type { Device } from './device.ts'
import type { DeviceEvent } from './device-event.ts'
import type { Change } from './device-rows.ts'
import type { Registry } from './registry.ts'

/**
 * @param of the registry of a brand
 * @param all the registries
 */
export function joinRegistries(of: (brand: string) => Registry, all: readonly Registry[]): Registry {
  /** The devices of each registry. */
  const divide = (devices: readonly Device[]) => Map.groupBy(devices, ({ brand }) => of(brand))

  /** Events of several stores are several commits: if one of them fails, the call is repeated, and changes nothing twice. */
  async function take(events: readonly DeviceEvent[], also: readonly Op[] = [], most?: number) {
    const groups = [...Map.groupBy(events, ({ brand }) => of(brand))]
    if (groups.length > 1 && also.length > 0)
      throw new Error(
        'the events are of brands in several stores, so they cannot be committed with the same operations',
      )
    const taken = await Promise.all(groups.map(([registry, own]) => registry.take(own, also, most)))
    const next = new Map(groups.map(([registry], i) => [registry, (taken[i] as readonly Change[]).values()]))
    return events.map(({ brand }) => next.get(of(brand))?.next().value as Change)
  }

  return {
    name: 'registry',
    take,
    of: async (brand, userIds, look) => of(brand).of(brand, userIds, look),
    holders: async (brand, tokens, look) => of(brand).holders(brand, tokens, look),
    // Without other processes, there is nothing to read before a send.
    ...(all.some(({ refresh }) => refresh) && {
      refresh: async (device: Device) => of(device.brand).refresh?.(device),
    }),
    revoked: (device) => of(device.brand).revoked(device),
    unlink: (devices, why) => [...divide(devices)].flatMap(([registry, own]) => registry.unlink(own, why)),
    list: async (brand, userId) => of(brand).list(brand, userId),
    async remove(devices, why) {
      await Promise.all([...divide(devices)].map(([registry, own]) => registry.remove(own, why)))
    },
    removed: async (filter, limit, after) => of(filter.brand).removed(filter, limit, after),
    restore: async (filter) => of(filter.brand).restore(filter),
  }
}
