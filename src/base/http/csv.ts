type Cell = string | number | null

/** The columns of a file by their names. */
export type Columns<Row> = Readonly<Record<string, (row: Row) => Cell>>

/** Columns with the names of members of the row. */
export const columnsOf = <Name extends string>(names: readonly Name[]): Columns<Readonly<Record<Name, Cell>>> =>
  Object.fromEntries(names.map((name) => [name, (row: Readonly<Record<Name, Cell>>) => row[name]]))

/** A header line, then one line for each row, page by page in constant memory. */
export async function* writeCsv<Row>(
  columns: Columns<Row>,
  pages: AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>,
): AsyncGenerator<string> {
  yield csvLine(Object.keys(columns))
  const cells = Object.values(columns)
  for await (const rows of pages)
    if (rows.length > 0) yield rows.map((row) => csvLine(cells.map((cellOf) => cellOf(row)))).join('')
}

/** @example csvLine(['a,b', '=1+1', null]) // '"a,b",\'=1+1,\n' */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map((cell) => csvCell(cell === null ? '' : String(cell))).join(',')}\n`
}

/**
 * Spreadsheets treat text that begins with = + - or @ as a formula, also after spaces, quotes, or a byte order mark. Where the separator is
 * a semicolon or a tab, a new cell begins there, and after a line break: an untrusted text must not become a formula.
 */
const formulas = /(^|[;\t\n\r])(?=(?:["\uFEFF]|[^\S\r\n])*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|[\t\r])/g

function csvCell(text: string): string {
  const escaped = text.replace(formulas, "$1'")
  return /[",;\n\r]/.test(escaped) ? `"${escaped.replaceAll('"', '""')}"` : escaped
}
