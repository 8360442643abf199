/** @example csvLine(['a,b', '=1+1', null]) // '"a,b",\'=1+1,\n' */
export function csvLine(cells: readonly (string | number | null)[]): string {
  return `${cells.map((cell) => csvCell(cell === null ? '' : String(cell))).join(',')}\n`
}

/**
 * Spreadsheets treat text that begins with = + - or @ as a formula, also after spaces, a byte order mark, or a semicolon, which is the
 * separator in some countries: an untrusted text must not become a formula.
 */
const formulas = /(^|;)(?=[\s\uFEFF]*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|[\t\r])/g

function csvCell(text: string): string {
  const escaped = text.replace(formulas, "$1'")
  return /[",;\n\r]/.test(escaped) ? `"${escaped.replaceAll('"', '""')}"` : escaped
}
