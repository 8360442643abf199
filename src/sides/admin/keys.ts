import { Type } from 'typebox'
import { type AcceptedKeys, digestOf } from '../../base/http/accepted-keys.ts'
import type { AccessKey } from '../../base/http/access.ts'
import { HttpError } from '../../base/http/http-error.ts'
import { clock } from '../../base/runtime/clock.ts'
import { present } from '../../base/runtime/present.ts'
import { moment, text } from '../../contract/documents/described.ts'
import { fingerprintOf, fingerprintOfDigest } from '../../contract/integration-profile.ts'
import { NewKey, RevokedKey } from './requests.ts'
import { adminRoute } from './route.ts'
import type { StoredKeys } from './stored-keys.ts'
import { isBrandVisible } from './visibility.ts'

/** The accepted keys of a side, by the setting that has them. */
export type KeyLists = Readonly<Record<string, Pick<AcceptedKeys<ListedKey>, 'list'>>>

type ListedKey = Parameters<AcceptedKeys['use']>[0] & {
  readonly scopes?: readonly string[]
  readonly brands?: readonly string[]
}

/** A key without its text. */
const ShownKey = Type.Object({
  setting: text('The setting that has the key, or `store`'),
  name: Type.String(),
  fingerprint: text('The first 16 digits of its SHA-256'),
  scopes: Type.Optional(Type.Array(Type.String(), { description: 'Absent: all endpoints of the interface' })),
  brands: Type.Optional(Type.Array(Type.String(), { description: 'Absent: all brands' })),
  from: Type.Optional(Type.Array(Type.String(), { description: 'Absent: all addresses' })),
  expires_at: Type.Optional(Type.String()),
  last_used_at: Type.Optional(
    moment(
      'The last use: of a key of the store in any process, to the minute; of another in this process, since its start',
    ),
  ),
  added_by: Type.Optional(text('Of a key of the store: the key that added it')),
  added_at: Type.Optional(moment('Of a key of the store: when it was added')),
})

export function keyRoutes(lists: KeyLists, stored: StoredKeys) {
  const list = adminRoute({
    says: 'Lists the accepted keys without their texts, with their last use.',
    gives: Type.Object({ keys: Type.Array(ShownKey) }),
    async handler(_request, caller) {
      const all = Object.entries(lists).flatMap(([setting, keys]) => keys.list().map((each) => ({ setting, ...each })))
      const ofStore = new Map(stored.list().map((each) => [each.key.keySha256, each]))
      return {
        keys: all
          .filter(({ key }) => isVisible(caller, key))
          .map(({ setting, source, key, lastUsedAt = 0 }) => {
            const row = source === 'store' ? ofStore.get(key.keySha256) : undefined
            const used = Math.max(lastUsedAt, row?.usedAt ?? 0)
            return {
              setting: source === 'store' ? 'store' : setting,
              name: key.name,
              fingerprint: fingerprintOfDigest(digestOf(key)),
              scopes: key.scopes,
              brands: key.brands,
              from: key.from,
              expires_at: key.expiresAt,
              last_used_at: used > 0 ? used : undefined,
              added_by: row?.addedBy,
              added_at: row?.addedAt,
            }
          }),
      }
    },
  })
  const add = adminRoute({
    says: 'Adds a key for /admin to the store, for all processes. The answer is the only place that has its text. It gets no more permissions than the key of the caller has.',
    body: NewKey,
    gives: Type.Object({
      key: text('The text of the key'),
      name: Type.String(),
      fingerprint: Type.String(),
    }),
    refuses: { 409: 'A key has this name already.' },
    async handler({ body }, caller) {
      const { name, scopes } = body
      const brands = body.brands?.map(String) ?? caller.brands
      const from = body.from ?? caller.from
      const expiresAt = body.expires_at ?? caller.expiresAt
      const excess = [
        ...scopes.filter((scope) => !caller.scopes.includes(scope)).map((scope) => `the scope ${scope}`),
        ...(brands ?? []).filter((brand) => !isBrandVisible(caller, brand)).map((brand) => `brand ${brand}`),
        ...(from ?? []).filter((each) => caller.from?.includes(each) === false).map((each) => `the address ${each}`),
        ...(expiresAt !== undefined && Date.parse(expiresAt) > expiryOf(caller)
          ? [`a time after ${caller.expiresAt}`]
          : []),
      ]
      if (excess.length > 0)
        throw new HttpError(403, `the key ${caller.name} cannot give more than it has: it lacks ${excess.join(', ')}`)
      if ('platform.keys' in lists && scopes.includes('devices') && brands?.length !== 1)
        throw new HttpError(
          400,
          'brands: a key with the scope devices needs exactly one brand, because link and unlink do not name a brand',
        )
      if (expiresAt !== undefined && Date.parse(expiresAt) <= clock.now())
        throw new HttpError(400, `expires_at: ${expiresAt} is not in the future`)
      const key = await stored.add({ name, scopes, ...present({ brands, from, expiresAt }) }, caller.name, () =>
        caller.audit.ops(),
      )
      return { key, name, fingerprint: fingerprintOf(key) }
    },
  })
  const revoke = adminRoute({
    says: 'Revokes a key of the store at once, in all processes.',
    body: RevokedKey,
    gives: Type.Object({ revoked: Type.Literal(true) }),
    refuses: { 404: 'The store has no key with this name.', 409: 'The key is in the configuration.' },
    async handler({ body: { name } }, caller) {
      const row = stored.list().find(({ key }) => key.name === name)
      const configured = Object.entries(lists).find(([, keys]) =>
        keys
          .list()
          .some(({ key, source }) => source === 'configuration' && key.name === name && isVisible(caller, key)),
      )
      if (!row && configured)
        throw new HttpError(
          409,
          `name: this key is in ${configured[0]} of the configuration: remove it there, and reload`,
        )
      const hidden = row && !isVisible(caller, row.key)
      if (hidden || !(await stored.revoke(name, () => caller.audit.ops())))
        throw new HttpError(
          404,
          `name: the store has no key with this name for the brands of your key: see GET /admin/keys`,
        )
      return { revoked: true as const }
    },
  })
  return { list, add, revoke }
}

const isVisible = (caller: AccessKey, { brands }: ListedKey): boolean =>
  brands === undefined ? !caller.brands : brands.every((brand) => isBrandVisible(caller, brand))

const expiryOf = ({ expiresAt }: AccessKey): number =>
  expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiresAt)
