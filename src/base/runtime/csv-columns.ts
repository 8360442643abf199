/**
 * Checks the header of a CSV file. Joins and pivots produce headers that name a column twice; one of its two values would be
 * ignored.
 *
 * @param known the columns that the reader uses
 * @returns the names
 * @throws if a name occurs twice, or as checkName()
 */
export function checkColumns(names: readonly string[], known: readonly string[]): string[] {
  const seen = new Set<string>()
  for (const name of names) {
    checkName('column', name, known)
    if (name !== '' && seen.has(name)) throw new Error(`two columns are named ${name}: remove one, or rename it`)
    seen.add(name)
  }
  return [...names]
}

/** @throws if the name differs from a known one only in its case, spaces or hyphens: its value would be ignored */
export function checkName(kind: 'column' | 'member', name: string, known: readonly string[]): void {
  if (known.includes(name)) return
  const folded = name.toLowerCase().replace(/[\s-]+/g, '_')
  if (known.includes(folded)) throw new Error(`the ${kind} ${name} is unknown: write ${folded}`)
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
