import type { DeviceSource, LookUp } from '../device-source.ts'
import { type DeviceRecord, devicesFrom, holdersFrom } from './rows.ts'

/** Devices of some users, in any order. */
export type FindDevices = (
  brand: string,
  userIds: readonly string[],
  look: LookUp,
) => Iterable<DeviceRecord> | Promise<Iterable<DeviceRecord>>

/** Whose some tokens are; `user_id: null` for one that is known and nobody's. */
export type FindHolders = (
  brand: string,
  tokens: readonly string[],
  look: LookUp,
) => Iterable<DeviceRecord> | Promise<Iterable<DeviceRecord>>

/**
 * A device source from your own code. Without `holders` it cannot be said whose a token is, so that a message that names
 * its token is only sent where targets need not be registered.
 *
 * @example
 * functionDevices((brand, userIds) => userIds.flatMap((id) => myTokens(brand, id).map((token) => ({ user_id: id, token, kind: 'fcm_token' }))))
 */
export function functionDevices(find: FindDevices, holders?: FindHolders, name = 'function'): DeviceSource {
  return {
    name,
    async of(brand, userIds, look) {
      if (userIds.length === 0) return new Map()
      return devicesFrom(name, brand, userIds, await find(brand, userIds, look))
    },
    async holders(brand, tokens, look) {
      if (!holders || tokens.length === 0) return new Map()
      return holdersFrom(name, brand, tokens, await holders(brand, tokens, look))
    },
  }
}
