import type { DeviceSource, LookUp } from '../device-source.ts'
import { type DeviceRecord, devicesFrom, holdersFrom } from './rows.ts'

/** Returns the devices of the given users, in any order. */
export type FindDevices = (
  brand: string,
  userIds: readonly string[],
  look: LookUp,
) => Iterable<DeviceRecord> | Promise<Iterable<DeviceRecord>>

/** Returns the holders of the given tokens; `user_id: null` for a known token that belongs to nobody. */
export type FindHolders = (
  brand: string,
  tokens: readonly string[],
  look: LookUp,
) => Iterable<DeviceRecord> | Promise<Iterable<DeviceRecord>>

/**
 * A device source that calls a function of yours. Without `holders` the user of a token is unknown: a message that names its
 * token is then sent only if unregistered targets are allowed.
 *
 * @example
 * functionDevices((brand, userIds) => userIds.flatMap((id) => myTokens(brand, id).map((token) => ({ user_id: id, token, kind: 'fcm_token' }))))
 */
export function functionDevices(find: FindDevices, holders?: FindHolders, name = 'function'): DeviceSource {
  return {
    name,
    async findDevices(brand, userIds, look) {
      if (userIds.length === 0) return new Map()
      return devicesFrom(name, brand, userIds, await find(brand, userIds, look))
    },
    async findHolders(brand, tokens, look) {
      if (!holders || tokens.length === 0) return new Map()
      return holdersFrom(name, brand, tokens, await holders(brand, tokens, look))
    },
  }
}
