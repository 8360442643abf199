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

/**
 * Spreadsheets show a large number with an exponent, and write it to a file like that: the other digits are lost.
 *
 * @returns why the id is refused, or undefined
 * @example findShortened('9.22337E+18')
 */
export const findShortened = (userId: string): string | undefined =>
  /^\d([.,]\d+)?E\+\d+$/i.test(userId)
    ? `user_id is ${userId}, shortened by a spreadsheet: format the column as text, and export the file again`
    : undefined
