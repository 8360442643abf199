/** Keys that are told by themselves; the others are summed up as 'others'. */
const mostKeys = 20

/**
 * Tells of what may happen thousands of times a second: of each key at once, and then in every period how often it happened again.
 *
 * @example const refused = summarizeRepeats(60_000, (address, count) => emit('keys.refused', { address, count })); refused('192.0.2.1')
 */
export function summarizeRepeats(everyMs: number, tell: (key: string, count: number) => void): (key: string) => void {
  const counts = new Map<string, number>()
  function report(): void {
    for (const [key, count] of counts) if (count > 0) tell(key, count)
    counts.clear()
  }
  return (key) => {
    if (counts.size === 0) setTimeout(report, everyMs).unref()
    const known = counts.get(key)
    if (known !== undefined) counts.set(key, known + 1)
    else if (counts.size >= mostKeys) counts.set('others', (counts.get('others') ?? 0) + 1)
    else {
      counts.set(key, 0)
      tell(key, 1)
    }
  }
}
