import { clock } from './clock.ts'

/** Keys that are reported separately; further keys are counted together as 'others'. */
const mostKeys = 20

/**
 * Limits the reports of an event that may occur thousands of times a second: the first occurrence of a key is reported at once,
 * its repetitions once per period with their count.
 *
 * @example const report = summarizeRepeats(60_000, (address, count) => emit('keys.refused', { address, count })); report('192.0.2.1')
 */
export function summarizeRepeats(everyMs: number, report: (key: string, count: number) => void): (key: string) => void {
  const counts = new Map<string, number>()
  function reportRepeats(): void {
    for (const [key, count] of counts) if (count > 0) report(key, count)
    counts.clear()
  }
  return (key) => {
    if (counts.size === 0) clock.setTimeout(reportRepeats, everyMs).unref()
    const repeats = counts.get(key)
    if (repeats !== undefined) counts.set(key, repeats + 1)
    else if (counts.size >= mostKeys) counts.set('others', (counts.get('others') ?? 0) + 1)
    else {
      counts.set(key, 0)
      report(key, 1)
    }
  }
}
