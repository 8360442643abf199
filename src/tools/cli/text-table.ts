// Formats texts for a terminal. All values may be untrusted: their control characters are escaped.

import { escapeControls } from '../../base/runtime/log-text.ts'

export interface Column {
  readonly title: string
  readonly align?: 'right'
  /** The most characters of a cell; a longer text is shortened. */
  readonly most?: number
}

/** A table. @param notes the lines under each row */
export function textTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  notes: readonly (readonly string[])[] = [],
): string {
  const cells = rows.map((row) => row.map((text, i) => fit(escapeControls(text), columns[i]?.most)))
  const widths = columns.map(({ title }, i) => Math.max(title.length, ...cells.map((row) => row[i]?.length ?? 0)))
  const line = (row: readonly string[]): string =>
    row
      .map((text, i) => (columns[i]?.align ? text.padStart(widths[i] ?? 0) : text.padEnd(widths[i] ?? 0)))
      .join('  ')
      .trimEnd()
  const lines = cells.flatMap((row, i) => [line(row), ...(notes[i] ?? []).map(escapeControls)])
  return [line(columns.map(({ title }) => title)), ...lines].join('\n')
}

const fit = (text: string, most = Number.POSITIVE_INFINITY): string =>
  text.length > most ? `${text.slice(0, most - 1)}…` : text

/** A table whose last columns are counts, with a line of their sums. */
export function countTable<Name extends string>(
  columns: readonly Column[],
  counts: readonly Name[],
  rows: readonly { readonly names: readonly string[]; readonly counts: Readonly<Record<Name, number>> }[],
): string {
  const countColumns = counts.map((name) => ({ title: name.toUpperCase(), align: 'right' as const }))
  const sums = counts.map((name) => number(rows.reduce((sum, row) => sum + row.counts[name], 0)))
  return textTable(
    [...columns, ...countColumns],
    [
      ...rows.map((row) => [...row.names, ...counts.map((name) => number(row.counts[name]))]),
      ['Total', ...columns.slice(1).map(() => ''), ...sums],
    ],
  )
}

/** Lines of names and values. @example 'User      1001' */
export function factLines(facts: readonly (readonly [name: string, value: string])[]): string[] {
  const width = Math.max(...facts.map(([name]) => name.length))
  return facts.map(([name, value]) => `${name.padEnd(width)}  ${escapeControls(value)}`)
}

/** A line of a summary. @example '  failed            1,234   rejected: unknown user' */
export const summaryLine = (name: string, count: number, more = ''): string =>
  `  ${name.padEnd(10)} ${number(count).padStart(12)}${more && `   ${escapeControls(more)}`}`

/** The line of the refused lines in a summary, and the first ten of them. */
export function refusedLines(
  refused: number,
  listed: readonly { readonly line: number; readonly error: string }[],
): string[] {
  return [
    ...(refused > 0 ? [summaryLine('refused', refused)] : []),
    ...listed.slice(0, 10).map(({ line, error }) => `      line ${line}: ${escapeControls(error)}`),
    ...(refused > 10 ? [`      and ${number(refused - 10)} more; --json lists the first ${listed.length}`] : []),
  ]
}

/** @example number(1_234) // '1,234' */
export const number = (value: number): string => value.toLocaleString('en')

/** @param ms epoch milliseconds */
export const isoTime = (ms: number): string => new Date(ms).toISOString()
