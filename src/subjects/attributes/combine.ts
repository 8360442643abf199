import { type AttributeSource, type Field, fieldsOf, NotListed } from './attribute-source.ts'

export interface Part {
  readonly source: AttributeSource
  /** The brands for which this source is used. */
  readonly brands: readonly string[]
}

/**
 * Combines several sources into one. Each field of each brand is answered by exactly one of them.
 *
 * @throws if two sources answer the same field of the same brand, because they could disagree
 * @example combine([{ source: players, brands: ['1'] }, { source: others, brands: ['2'] }])
 */
export function combine(parts: readonly Part[]): AttributeSource {
  const owners = new Map<string, Map<Field, AttributeSource>>()
  for (const { source, brands } of parts) {
    for (const brand of brands) {
      const ofBrand = owners.get(brand) ?? new Map<Field, AttributeSource>()
      owners.set(brand, ofBrand)
      for (const field of fieldsOf(source, brand)) {
        const other = ofBrand.get(field)
        if (other)
          throw new Error(`both ${other.name} and ${source.name} answer ${field} of brand ${brand}: remove it from one`)
        ofBrand.set(field, source)
      }
    }
  }

  const ownerOf = (brand: string, field: Field): AttributeSource => {
    const owner = owners.get(brand)?.get(field)
    if (owner) return owner
    throw new NotListed(`no source answers ${field} of brand ${brand}`)
  }

  return {
    name: parts.map(({ source }) => source.name).join(', ') || 'no source',
    fields: [...new Set(parts.flatMap(({ source }) => source.fields))],
    fieldsOf: (brand) => [...(owners.get(brand)?.keys() ?? [])],
    async among(brand, userIds, requested, lookUp) {
      const byOwner = Map.groupBy(requested, (field) => ownerOf(brand, field))
      const answers = await Promise.all(
        [...byOwner].map(([owner, fields]) => owner.among(brand, userIds, fields, lookUp)),
      )
      return new Map(answers.flatMap((answer) => [...answer]))
    },
    async all(brand, field, options) {
      const owner = ownerOf(brand, field)
      if (owner.all) return owner.all(brand, field, options)
      throw new NotListed(`${owner.name} cannot list users`)
    },
    async close() {
      await Promise.all([...new Set(parts.map(({ source }) => source))].map((source) => source.close?.()))
    },
  }
}
