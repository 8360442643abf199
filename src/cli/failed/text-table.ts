import { escapeControls } from '../../runtime/log-text.ts'

export interface Column {
  readonly title: string
  readonly align?: 'right'
  /** The most characters of a cell; a longer text is shortened. */
  readonly most?: number
}

/** Formats rows as a table for a terminal. The cells may be untrusted text. */
export function textTable(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => row.map((text, i) => fit(escapeControls(text), columns[i]?.most)))
  const widths = columns.map(({ title }, i) => Math.max(title.length, ...cells.map((row) => row[i]?.length ?? 0)))
  const line = (row: readonly string[]): string =>
    row
      .map((text, i) => (columns[i]?.align ? text.padStart(widths[i] ?? 0) : text.padEnd(widths[i] ?? 0)))
      .join('  ')
      .trimEnd()
  return [columns.map(({ title }) => title), ...cells].map(line).join('\n')
}

const fit = (text: string, most = Number.POSITIVE_INFINITY): string =>
  text.length > most ? `${text.slice(0, most - 1)}…` : text
