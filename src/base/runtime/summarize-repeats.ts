import { clock } from './clock.ts'

/** Keys that are reported separately; further keys are counted together as 'others'. */
const mostKeys = 20

/**
 * Limits the reports of an event that may occur thousands of times a second: the first occurrence of a key is reported at once,
 * its repetitions once per period with their count.
 *
 * @param report called with the latest detail of the key
 * @example const report = summarizeRepeats(60_000, (address, count) => emit('keys.refused', { address, count })); report('192.0.2.1')
 */
export function summarizeRepeats<Detail = void>(
  everyMs: number,
  report: (key: string, count: number, detail: Detail) => void,
): (key: string, detail: Detail) => void {
  const counts = new Map<string, { count: number; detail: Detail }>()
  const countOf = (key: string): number => counts.get(key)?.count ?? 0
  function reportRepeats(): void {
    for (const [key, { count, detail }] of counts) if (count > 0) report(key, count, detail)
    counts.clear()
  }
  return (key, detail) => {
    if (counts.size === 0) clock.setTimeout(reportRepeats, everyMs).unref()
    if (counts.has(key)) counts.set(key, { count: countOf(key) + 1, detail })
    else if (counts.size >= mostKeys) counts.set('others', { count: countOf('others') + 1, detail })
    else {
      counts.set(key, { count: 0, detail })
      report(key, 1, detail)
    }
  }
}
