import type { AttributeSource, Field } from './attribute-source.ts'

/**
 * A source from your own code: given a brand, some users and a field, says for whom the field is true.
 *
 * @param fields the fields that it knows; those it does not name are not asked
 * @example
 * functionSource(['blocked', 'excluded'], (brand, users, field) => users.filter((user) => myCache.has(brand, user, field)))
 */
export function functionSource(
  fields: readonly Field[],
  whoHas: (brand: string, userIds: readonly string[], field: Field) => Iterable<string> | Promise<Iterable<string>>,
  name = 'function',
): AttributeSource {
  return {
    name,
    fields,
    async among(brand, userIds, asked) {
      const answers = await Promise.all(
        asked.map(async (field) => [field, new Set(await whoHas(brand, userIds, field))] as const),
      )
      return new Map(answers)
    },
  }
}
