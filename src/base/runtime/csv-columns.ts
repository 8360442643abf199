/**
 * Checks the header of a CSV file. Joins and pivots produce headers that name a column twice; one of its two values would be
 * ignored.
 *
 * @param known the columns that the reader uses
 * @returns the names
 * @throws if a name occurs twice, or differs from a known one only in its case, spaces or hyphens
 */
export function checkColumns(names: readonly string[], known: readonly string[]): string[] {
  const seen = new Set<string>()
  for (const name of names) {
    const folded = name.toLowerCase().replace(/[\s-]+/g, '_')
    if (!known.includes(name) && known.includes(folded))
      throw new Error(`the column ${name} is unknown: write ${folded}`)
    if (name !== '' && seen.has(name)) throw new Error(`two columns are named ${name}: remove one, or rename it`)
    seen.add(name)
  }
  return [...names]
}
