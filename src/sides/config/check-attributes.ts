import { fields } from '../../subjects/attributes/attribute-source.ts'
import { namesBrand } from '../../subjects/attributes/sql-text.ts'
import { brandFaults } from '../../subjects/settings/contradictions.ts'
import type { Fault } from './problem.ts'
import type { OperatorConfig } from './table.ts'

/** Requires a source for each brand or `suppression: none`, so that a forgotten source cannot cause messages to blocked users. */
export function checkAttributes({ keys, attributes, suppression }: OperatorConfig): readonly Fault[] {
  const problems: Fault[] = []
  const all = [...new Set(keys.flatMap((key) => key.brands))]
  const none = suppression?.is === 'none'
  const uncovered = all.filter((brand) => !attributes.some((source) => source.brands?.includes(brand) ?? true))
  if (uncovered.length > 0 && !none)
    problems.push({
      path: 'operator.attributes',
      description: `no source covers brand ${uncovered.join(', ')}, so blocked users would be messaged`,
      remedy: 'write attributes: [{file: ./users.csv}], or suppression: none to send to all users',
    })
  for (const [i, source] of attributes.entries()) {
    const path = `operator.attributes[${i}]`
    problems.push(...brandFaults(`${path}.brands`, source.brands ?? [], all, 'the brands of operator.keys'))
    if (source.is !== 'sql') continue
    const written = Object.entries(source.queries)
    if (written.length === 0)
      problems.push({
        path: `${path}.queries`,
        description: 'has no query',
        remedy: `write a query for each field that you have: ${fields.join(', ')}`,
      })
    problems.push(...queryFaults(`${path}.queries`, 'users', written, source.brands ?? all))
  }
  return problems
}

/** Users of two brands may have the same id (row 31), so a query for several brands must compare the brand. */
export function queryFaults(
  path: string,
  selected: 'users' | 'devices',
  queries: readonly (readonly [name: string, query: string | undefined])[],
  brands: readonly string[],
): readonly Fault[] {
  if (brands.length < 2) return []
  const otherwise = selected === 'users' ? ', or write one source per brand with brands: [1]' : ''
  return queries
    .filter(([, query]) => query !== undefined && !namesBrand(query))
    .map(([name]) => ({
      path: `${path}.${name}`,
      description: `selects the same ${selected} for every brand`,
      remedy: `compare the brand with :brand in the query${otherwise}`,
    }))
}
