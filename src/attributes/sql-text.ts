// The operator's query, and ours around it.

const quoted = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\//.source
const placeholder = new RegExp(`${quoted}|(?<!:):brand\\b`, 'g')

/** Whether a query is about one brand only. */
export function namesBrand(query: string): boolean {
  return query.match(placeholder)?.includes(':brand') === true
}

/**
 * Puts the brand in place of `:brand`, but not inside texts, names and comments. As a literal: COPY takes no parameters, and
 * a literal takes the type of the column that it is compared with, every time that it stands there.
 *
 * @example bindBrand('select id from u where brand = :brand', '1') // "select id from u where brand = '1'"
 */
export function bindBrand(query: string, brand: string): string {
  if (!/^[\w.:-]{1,128}$/.test(brand)) throw new Error(`${JSON.stringify(brand)} is no brand`)
  return query.replace(placeholder, (found) => (found === ':brand' ? `'${brand}'` : found))
}
