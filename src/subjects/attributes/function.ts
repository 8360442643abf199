import { clock } from '../../base/runtime/clock.ts'
import { shown } from '../../contract/shown.ts'
import type { AttributeSource, Field, LookUp } from './attribute-source.ts'
import { chunksOf } from './id-chunks.ts'

type Ids = Iterable<string> | AsyncIterable<string>

/**
 * A source that calls a function of yours: given a brand, user ids and a field, it returns the users for whom the field is true.
 *
 * @param lookUp after its deadline the answer is ignored: end the work that the function has started elsewhere
 * @param fields the fields that the function can answer; it is never called for another field
 * @param listUsers for reconciliation: returns all users for whom the field is true. The list is dated to the time of the call.
 * @example
 * functionSource(['blocked', 'excluded'], (brand, users, field) => users.filter((user) => myCache.has(brand, user, field)))
 */
export function functionSource(
  fields: readonly Field[],
  lookUp: (
    brand: string,
    userIds: readonly string[],
    field: Field,
    context: LookUp,
  ) => Iterable<string> | Promise<Iterable<string>>,
  name = 'function',
  listUsers?: (brand: string, field: Field, signal: AbortSignal) => Ids | Promise<Ids>,
): AttributeSource {
  return {
    name,
    fields,
    async among(brand, userIds, requested, context) {
      const answers = await Promise.all(
        requested.map(async (field) => [field, idsOf(await lookUp(brand, userIds, field, context), field)] as const),
      )
      return new Map(answers)
    },
    ...(listUsers && {
      async all(brand, field, { signal }) {
        const timestamp = new Date(clock.now()).toISOString()
        return { timestamp, chunks: chunksOf(await listUsers(brand, field, signal)) }
      },
    }),
  }
}

/** @throws for any other answer: nobody would be blocked by undefined, by a text, or by ids that are numbers */
function idsOf(found: unknown, field: Field): ReadonlySet<string> {
  if (typeof found === 'object' && found !== null && Symbol.iterator in found) {
    const ids = new Set(found as Iterable<unknown>)
    if ([...ids].every((id) => typeof id === 'string')) return ids as ReadonlySet<string>
  }
  throw new TypeError(`the function returned ${shown(found)} for ${field}: return the user ids as strings`)
}
