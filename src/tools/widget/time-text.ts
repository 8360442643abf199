const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

/** A time as text: "now", "5 min. ago", "yesterday", and after a week the date. */
export function timeText(at: Date, now: number, locale: string | undefined): string {
  const age = Math.max(0, now - at.getTime())
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' })
  if (age >= 7 * 86_400_000) {
    const year = at.getFullYear() === new Date(now).getFullYear() ? {} : ({ year: 'numeric' } as const)
    return new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', ...year }).format(at)
  }
  const [unit, length] = units.find(([, ms]) => age >= ms) ?? []
  return unit && length ? relative.format(-Math.floor(age / length), unit) : relative.format(0, 'second')
}

/** The complete date and time, as a tooltip. */
export function fullTimeText(at: Date, locale: string | undefined): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'short' }).format(at)
}
