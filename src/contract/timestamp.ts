// Timestamps as sortable texts: UTC with all digits of the input, but no zone and no trailing zeros. The order of their bytes is
// the order of time ('…:00' < '…:00.25' < '…:00.3' < '…:01'). A Date would lose digits below a millisecond, and two events of
// one device may be closer than that.

/** 'YYYY-MM-DDTHH:MM:SS' or 'YYYY-MM-DDTHH:MM:SS.fraction', UTC. On the wire, followed by Z: rfc3339(). */
export type Timestamp = string

/** The longest text that is read as a timestamp; 60 fraction digits can only be a mistake. */
const maxLength = 80
/** Row 20: a timestamp further ahead of our clock is replaced by the current time. */
const mostAheadMs = 60_000

const form = /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{1,2}):(\d{2}):(\d{2})(?:[.,](\d+))?(?:[Zz]|([+-])(\d{2}):?(\d{2}))$/
const daysIn = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/**
 * Reads an RFC 3339 timestamp, and tolerates deviations that are unambiguous: an hour of one digit (public facts), any number of
 * fraction digits, a comma for the point, a space for the T. Returns undefined for any other text, or if the zone is missing.
 *
 * @example readTimestamp('2015-03-02T8:27:58.721607+02:00') // '2015-03-02T06:27:58.721607'
 */
export function readTimestamp(text: string): Timestamp | undefined {
  const [, year, month, day, hour, minute, second, fraction = '', sign, zoneHours, zoneMinutes] =
    (text.length <= maxLength && form.exec(text)) || []
  if (year === undefined || !isDay(Number(year), Number(month), Number(day))) return undefined
  // 60 is a leap second, which sorts correctly before the next minute.
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return undefined
  const digits = fraction.replace(/0+$/, '')
  const end = `${second}${digits && `.${digits}`}`
  if (sign === undefined) return `${year}-${month}-${day}T${hour?.padStart(2, '0')}:${minute}:${end}`
  if (Number(zoneHours) > 23 || Number(zoneMinutes) > 59) return undefined
  const offset = (sign === '-' ? -1 : 1) * (Number(zoneHours) * 60 + Number(zoneMinutes))
  const shifted = new Date(0)
  shifted.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  shifted.setUTCHours(Number(hour), Number(minute) - offset)
  if (shifted.getUTCFullYear() < 0 || shifted.getUTCFullYear() > 9999) return undefined
  return `${shifted.toISOString().slice(0, 17)}${end}`
}

function isDay(year: number, month: number, day: number): boolean {
  if (month < 1 || month > 12 || day < 1) return false
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  return day <= (month === 2 && leap ? 29 : (daysIn[month - 1] as number))
}

/** @example timestampOf(0) // '1970-01-01T00:00:00' */
export function timestampOf(ms: number): Timestamp {
  return new Date(ms).toISOString().replace(/\.?0*Z$/, '')
}

/** Formats a timestamp for the wire. */
export function rfc3339(at: Timestamp): string {
  return `${at}Z`
}

/**
 * Row 20: a timestamp more than 60 s ahead of our clock would win over all events until then, so it is replaced by the current
 * time. The caller logs a warning if `clamped` is true.
 */
export function clampTo(now: number): (at: Timestamp) => { readonly at: Timestamp; readonly clamped: boolean } {
  const latest = timestampOf(now + mostAheadMs)
  return (at) => (at > latest ? { at: timestampOf(now), clamped: true } : { at, clamped: false })
}

/**
 * Returns a time later than `at` by at most a microsecond, truncated to microseconds. After …999999 a digit is appended
 * instead, which avoids a carry.
 *
 * @example justAfter('2026-01-01T00:00:00.5') // '2026-01-01T00:00:00.500001'
 */
export function justAfter(at: Timestamp): Timestamp {
  const next = Number(at.slice(20, 26).padEnd(6, '0')) + 1
  if (next === 1_000_000) return `${at}1`
  return `${at.slice(0, 19)}.${String(next).padStart(6, '0').replace(/0+$/, '')}`
}
