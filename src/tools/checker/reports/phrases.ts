// Words that all formats of a report share.

import type { Report, ReportedResult } from '../report-schema.ts'

export const levelTitles = {
  must: 'Required by the interface',
  should: 'Recommended',
  decision: 'Bellwire’s decisions',
} as const

export const statusWords = {
  passed: 'passed',
  failed: 'failed',
  skipped: 'skipped',
  not_applicable: 'not applicable',
  not_judged: 'not judged',
} as const

export const ruleSetWords = {
  interface: 'the interface alone',
  vendor: 'the interface and the dialect of its vendor',
  bellwire: 'the interface, the dialect of its vendor, and Bellwire’s decisions',
} as const

/** One sentence that a manager understands. */
export function verdictOf({ subject, conclusion, counts: { must, should, decision }, only }: Report): string {
  const judged = must.passed + must.failed
  if (conclusion === 'failed')
    return `${must.failed} of ${judged} required rules ${must.failed === 1 ? 'is' : 'are'} violated: this ${subject} does not follow the interface yet.`
  if (conclusion === 'incomplete')
    return `No required rule is violated, but ${must.not_judged} of ${judged + must.not_judged} could not be judged: the proof is incomplete.`
  const skipped =
    must.skipped > 0
      ? ` ${must.skipped} ${must.skipped === 1 ? 'was' : 'were'} not checked, because something was not prepared.`
      : ''
  if (must.passed === 0)
    return `No required rule was among the checks. ${should.passed + decision.passed} of ${should.passed + decision.passed + should.failed + decision.failed} other rules are kept.${skipped}`
  if (only) return `All ${must.passed} required rules that were checked are kept.${skipped}`
  return `All ${must.passed} required rules are kept: this ${subject} follows the interface.${skipped}`
}

export const conclusionWords = { passed: 'Passed', failed: 'Failed', incomplete: 'Incomplete' } as const

/** Results of one check with the same status, one for each target. */
export interface Grouped {
  readonly first: ReportedResult
  readonly results: readonly ReportedResult[]
}

export function groupByCheck(results: readonly ReportedResult[]): readonly Grouped[] {
  return [...Map.groupBy(results, ({ check, status }) => `${check} ${status}`).values()].map((of) => ({
    first: of[0] as ReportedResult,
    results: of,
  }))
}

/** '§7.2, row 29' */
export const referenceOf = ({ section, row }: ReportedResult): string =>
  row === undefined ? section : `${section}, row ${row}`

/** '2026-11-27 20:10 UTC' */
export const shownTime = (iso: string): string => `${iso.slice(0, 16).replace('T', ' ')} UTC`

export const shownSeconds = (report: Report): string =>
  `${Math.max(1, Math.round((Date.parse(report.ended_at) - Date.parse(report.started_at)) / 1000))} s`
