/** Months, days, hours, minutes and seconds may have one digit, as in published examples. Without a zone it is UTC (§2.5). */
const form =
  /^(\d{4})-(\d{1,2})-(\d{1,2})[Tt ](\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:[.,](\d+))?)?(?:[Zz]|([+-])(\d{2})(?::?(\d{2}))?)?$/

/** The basic format of ISO 8601. */
const basicForm = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})?/

/**
 * Reads the time of the data (§2.5) in epoch milliseconds. It rounds down: an earlier time judges fewer users.
 *
 * @example readTimestamp('2015-03-02T8:27:58.721607Z') // 1425284878721
 * @returns undefined if it cannot be read
 */
export function readTimestamp(text: string): number | undefined {
  const found = form.exec(
    text.trim().replace(basicForm, (_, y, mo, d, h, mi, s = '00') => `${y}-${mo}-${d}T${h}:${mi}:${s}`),
  )
  if (!found) return undefined
  const [, year, month, day, hour, minute, second = '0', fraction = '', sign, zoneHour = '0', zoneMinute = '0'] = found
  const parts = [year, month, day, hour, minute, second].map(Number) as [number, number, number, number, number, number]
  const at = Date.UTC(parts[0], parts[1] - 1, parts[2], parts[3], parts[4], parts[5])
  const date = new Date(at)
  // Date.UTC() would silently turn the 30th of February into another day. A leap second becomes the next second.
  const isSameDay = date.getUTCMonth() === parts[1] - 1 && date.getUTCDate() === parts[2] && parts[3] < 24
  if (!(isSameDay || parts[5] === 60) || parts[4] > 59 || parts[5] > 60 || parts[1] > 12 || parts[1] < 1)
    return undefined
  const zone = (Number(zoneHour) * 60 + Number(zoneMinute)) * 60_000
  return at + Number(fraction.slice(0, 3).padEnd(3, '0')) - (sign === '-' ? -zone : zone)
}
