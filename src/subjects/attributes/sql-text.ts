// Binds the parameter :brand in the operator's queries.

const quoted = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\//.source
const placeholder = new RegExp(`${quoted}|(?<!:):brand\\b`, 'g')

/** Whether a query contains the parameter `:brand`. */
export function namesBrand(query: string): boolean {
  return query.match(placeholder)?.includes(':brand') === true
}

/**
 * Replaces `:brand` by the brand as a literal, except inside string literals, quoted names and comments. A literal, because
 * COPY takes no parameters, and because each occurrence of a literal adopts the type of the column it is compared with.
 *
 * @example bindBrand('select id from u where brand = :brand', '1') // "select id from u where brand = '1'"
 */
export function bindBrand(query: string, brand: string): string {
  if (!/^[\w.:-]{1,128}$/.test(brand)) throw new Error(`${JSON.stringify(brand)} is not a brand`)
  return query.replace(placeholder, (found) => (found === ':brand' ? `'${brand}'` : found))
}
