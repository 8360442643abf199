import type { AttributeSource, Field } from './attribute-source.ts'
import { chunksOf } from './id-chunks.ts'

type Ids = Iterable<string> | AsyncIterable<string>

/**
 * A source from your own code: given a brand, some users and a field, says for whom the field is true.
 *
 * @param fields the fields that it knows; those it does not name are not asked
 * @param everybody for reconciliation: all users for whom the field is true. The list counts as of the moment of the call.
 * @example
 * functionSource(['blocked', 'excluded'], (brand, users, field) => users.filter((user) => myCache.has(brand, user, field)))
 */
export function functionSource(
  fields: readonly Field[],
  whoHas: (brand: string, userIds: readonly string[], field: Field) => Iterable<string> | Promise<Iterable<string>>,
  name = 'function',
  everybody?: (brand: string, field: Field, signal: AbortSignal) => Ids | Promise<Ids>,
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
    ...(everybody && {
      async all(brand, field, { signal }) {
        const timestamp = new Date().toISOString()
        return { timestamp, chunks: chunksOf(await everybody(brand, field, signal)) }
      },
    }),
  }
}
