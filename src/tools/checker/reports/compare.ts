// The differences between two reports of the same operator or platform.

import type { Report, ReportedResult } from '../report-schema.ts'
import { shownTime, statusWords } from './phrases.ts'

export interface Comparison {
  /** The time of the earlier report. */
  readonly earlier: string
  /** 'batch.status (push batch)': failed before, passed now. */
  readonly fixed: readonly string[]
  readonly broken: readonly string[]
  /** Other changes of a status, and checks that only one of the reports has. */
  readonly others: readonly string[]
}

export function compareReports(earlier: Report, current: Report): Comparison {
  const before = new Map(earlier.results.map((result) => [nameOf(result), result.status]))
  const now = new Map(current.results.map((result) => [nameOf(result), result.status]))
  const names = [...new Set([...before.keys(), ...now.keys()])].filter((name) => before.get(name) !== now.get(name))
  const isFixed = (name: string): boolean => before.get(name) === 'failed' && now.get(name) === 'passed'
  const isBroken = (name: string): boolean => now.get(name) === 'failed'
  const word = (status: ReportedResult['status'] | undefined): string => (status ? statusWords[status] : 'not checked')
  return {
    earlier: shownTime(earlier.started_at),
    fixed: names.filter(isFixed),
    broken: names.filter(isBroken),
    others: names
      .filter((name) => !isFixed(name) && !isBroken(name))
      .map((name) => `${name}: ${word(before.get(name))}, now ${word(now.get(name))}`),
  }
}

const nameOf = ({ check, target }: ReportedResult): string => `${check} (${target})`
