/** @example csvLine(['a,b', '=1+1', null]) // '"a,b",\'=1+1,\n' */
export function csvLine(cells: readonly (string | number | null)[]): string {
  return `${cells.map((cell) => csvCell(cell === null ? '' : String(cell))).join(',')}\n`
}

/** Spreadsheets treat text that begins with = + - or @ as a formula: an untrusted text must not become a formula. */
function csvCell(text: string): string {
  const escaped = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\n\r]/.test(escaped) ? `"${escaped.replaceAll('"', '""')}"` : escaped
}
