import { Type } from 'typebox'
import { type AcceptedKeys, digestOf } from '../../base/http/accepted-keys.ts'
import { moment } from '../../contract/documents/described.ts'
import { fingerprintOfDigest } from '../../contract/integration-profile.ts'
import { adminRoute } from './route.ts'
import { isBrandVisible } from './visibility.ts'

/** The accepted keys of a side, by the setting that has them. */
export type KeyLists = Readonly<Record<string, Pick<AcceptedKeys<ListedKey>, 'list'>>>

type ListedKey = Parameters<AcceptedKeys['use']>[0] & {
  readonly scopes?: readonly string[]
  readonly brands?: readonly string[]
}

/** A key without its text. */
const ShownKey = Type.Object({
  setting: Type.String({ description: 'The setting that has the key' }),
  name: Type.String(),
  fingerprint: Type.String({ description: 'The first 16 digits of its SHA-256' }),
  scopes: Type.Optional(Type.Array(Type.String(), { description: 'Absent: all endpoints of the interface' })),
  brands: Type.Optional(Type.Array(Type.String(), { description: 'Absent: all brands' })),
  from: Type.Optional(Type.Array(Type.String(), { description: 'Absent: all addresses' })),
  expires_at: Type.Optional(Type.String()),
  last_used_at: Type.Optional(moment('The last use in this process; absent: not used since its start')),
})

export const keyRoute = (lists: KeyLists) =>
  adminRoute({
    says: 'Lists the accepted keys without their texts, with their last use in this process.',
    gives: Type.Object({ keys: Type.Array(ShownKey) }),
    async handler(_request, caller) {
      const all = Object.entries(lists).flatMap(([setting, keys]) => keys.list().map((each) => ({ setting, ...each })))
      const isVisible = ({ brands }: ListedKey) =>
        brands === undefined ? !caller.brands : brands.every((brand) => isBrandVisible(caller, brand))
      return {
        keys: all
          .filter(({ key }) => isVisible(key))
          .map(({ setting, key, lastUsedAt }) => ({
            setting,
            name: key.name,
            fingerprint: fingerprintOfDigest(digestOf(key)),
            ...(key.scopes && { scopes: [...key.scopes] }),
            ...(key.brands && { brands: [...key.brands] }),
            ...(key.from && { from: [...key.from] }),
            ...(key.expiresAt !== undefined && { expires_at: key.expiresAt }),
            ...(lastUsedAt !== undefined && { last_used_at: lastUsedAt }),
          })),
      }
    },
  })
