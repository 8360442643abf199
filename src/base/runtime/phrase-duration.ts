export const durationUnits = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
] as const

/** A duration in its two largest units. @example phraseDuration(170_000) // '2 min 50 s' */
export function phraseDuration(ms: number): string {
  let left = Math.max(0, Math.ceil(ms / 1_000) * 1_000)
  const parts: string[] = []
  for (const [size, unit] of durationUnits) {
    const count = Math.floor(left / size)
    if (count > 0 && parts.length < 2) parts.push(`${count} ${unit}`)
    left -= count * size
  }
  return parts.join(' ') || '0 s'
}
