// Points in time as texts that sort: UTC, every digit that was written, no zone and no trailing zeros, so that the order of
// bytes is the order of time ('…:00' < '…:00.25' < '…:00.3' < '…:01'). A Date would lose what is below a millisecond,
// and two events of one device may be closer than that.

/** 'YYYY-MM-DDTHH:MM:SS' or 'YYYY-MM-DDTHH:MM:SS.fraction', UTC. On the wire with a Z behind it: rfc3339(). */
export type Timestamp = string

/** Longest text that is read as a timestamp; one of these with 60 digits of fraction is somebody's mistake. */
const longest = 80
/** Row 20: what is further ahead of us is taken as of now. */
const mostAheadMs = 60_000

const form = /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{1,2}):(\d{2}):(\d{2})(?:[.,](\d+))?(?:[Zz]|([+-])(\d{2}):?(\d{2}))$/
const daysIn = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/**
 * Reads an RFC 3339 timestamp as tolerantly as it can be done without guessing: an hour of one digit (public facts), any
 * number of fraction digits, a comma for the point, a space for the T. Undefined: it is none, or names no zone.
 *
 * @example readTimestamp('2015-03-02T8:27:58.721607+02:00') // '2015-03-02T06:27:58.721607'
 */
export function readTimestamp(text: string): Timestamp | undefined {
  const [, year, month, day, hour, minute, second, fraction = '', sign, zoneHours, zoneMinutes] =
    (text.length <= longest && form.exec(text)) || []
  if (year === undefined || !isDay(Number(year), Number(month), Number(day))) return undefined
  // 60: a leap second. It sorts where it belongs, before the next minute.
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

/** As it is written on the wire. */
export function rfc3339(at: Timestamp): string {
  return `${at}Z`
}

/**
 * Row 20: a timestamp more than 60 s ahead of our clock would win over everything that happens until then, so it is taken
 * as of now. Whoever asks warns where it was clamped.
 */
export function clampTo(now: number): (at: Timestamp) => { readonly at: Timestamp; readonly clamped: boolean } {
  const latest = timestampOf(now + mostAheadMs)
  return (at) => (at > latest ? { at: timestampOf(now), clamped: true } : { at, clamped: false })
}

/**
 * A microsecond later, cut to microseconds: later than `at`, by at most that. After …999999 a digit more instead, so that
 * nothing is carried.
 *
 * @example justAfter('2026-01-01T00:00:00.5') // '2026-01-01T00:00:00.500001'
 */
export function justAfter(at: Timestamp): Timestamp {
  const next = Number(at.slice(20, 26).padEnd(6, '0')) + 1
  if (next === 1_000_000) return `${at}1`
  return `${at.slice(0, 19)}.${String(next).padStart(6, '0').replace(/0+$/, '')}`
}
