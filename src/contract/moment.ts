const form = /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/

/**
 * Reads a time with its zone (RFC 3339), or a date, which is its first moment in UTC.
 *
 * @returns epoch milliseconds; undefined for any other text
 * @example readMoment('2026-01-31T10:00:00Z') // 1769853600000
 */
export function readMoment(text: string): number | undefined {
  const [, date] = form.exec(text) ?? []
  if (date === undefined) return undefined
  const at = Date.parse(text)
  // Date.parse() takes the 30th of February for a day of March.
  const isDay = !Number.isNaN(Date.parse(date)) && new Date(date).toISOString().startsWith(date)
  return isDay && !Number.isNaN(at) ? at : undefined
}
