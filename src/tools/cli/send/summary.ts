import { phraseCount } from '../../../base/runtime/phrase-count.ts'
import { refusedLines, summaryLine } from '../text-table.ts'
import type { RecordOutcome } from './outcomes.ts'

export interface Reasons {
  [reason: string]: { count: number; example: string }
}

/** The output of `bellwire send --json`. */
export interface Summary {
  readonly file: string
  /** The lines of the file that are not blank. */
  lines: number
  /** New lines, which the platform had not accepted before. */
  accepted: number
  /** Lines that the platform had accepted before. They are not sent again and keep their outcome. */
  repeated: number
  /** Retried requests: some of `repeated` may come from their first attempts. */
  requests_repeated: number
  successful: number
  /** The successful records for which the operator returned no identifier. */
  untracked: number
  failed: number
  waiting: number
  refused: number
  /** The reasons of the failed records. */
  readonly reasons: Reasons
  /** The reasons of the waiting records, if the platform knows them. */
  readonly waiting_reasons: Reasons
  /** The first refused lines. */
  readonly refused_lines: { line: number; error: string }[]
  seconds: number
}

const maxRefusedLines = 100
const maxReasons = 100

export function emptySummary(file: string): Summary {
  const counts = {
    lines: 0,
    accepted: 0,
    repeated: 0,
    requests_repeated: 0,
    successful: 0,
    untracked: 0,
    failed: 0,
    waiting: 0,
    refused: 0,
  }
  return { file, ...counts, reasons: {}, waiting_reasons: {}, refused_lines: [], seconds: 0 }
}

export function countRefused(
  summary: Pick<Summary, 'refused' | 'refused_lines'>,
  refused: readonly { line: number; error: string }[],
): void {
  summary.refused += refused.length
  summary.refused_lines.push(...refused.slice(0, maxRefusedLines - summary.refused_lines.length))
}

export function countOutcome(summary: Summary, { category, untracked, reason, error = '' }: RecordOutcome): void {
  summary[category]++
  if (untracked) summary.untracked++
  if (category === 'failed') countReason(summary.reasons, reason ?? 'failed', error)
  if (category === 'waiting' && reason !== undefined) countReason(summary.waiting_reasons, reason, error)
}

function countReason(reasons: Reasons, reason: string, error: string): void {
  const name = Object.hasOwn(reasons, reason) || Object.keys(reasons).length < maxReasons ? reason : 'others'
  const known = Object.hasOwn(reasons, name) ? reasons[name] : undefined
  if (known) known.count++
  else reasons[name] = { count: 1, example: error }
}

/** Whether all records of the file were successful. */
export function allSuccessful({ lines, successful }: Summary): boolean {
  return successful === lines
}

/** The summary as text. */
export function phraseSummary(summary: Summary): string {
  const { file, lines, successful, untracked, failed, waiting, refused, repeated, requests_repeated, seconds } = summary
  const reasonRows = (reasons: Reasons): string[] => {
    const sorted = Object.entries(reasons).toSorted(([, a], [, b]) => b.count - a.count)
    return [
      ...sorted.slice(0, 5).map(([reason, { count, example }]) => summaryLine('', count, `${reason}: ${example}`)),
      ...(sorted.length > 5 ? [`  and ${sorted.length - 5} more reasons`] : []),
    ]
  }
  const retries = requests_repeated > 0 ? `; ${phraseCount(requests_repeated, 'retried request')} in this run` : ''
  return [
    `${file}: ${phraseCount(lines, 'record')} in ${seconds} s`,
    summaryLine('successful', successful),
    ...(untracked > 0
      ? [summaryLine('', untracked, 'untracked: delivered, but the operator returned no identifier')]
      : []),
    summaryLine('failed', failed),
    ...reasonRows(summary.reasons),
    ...(waiting > 0
      ? [
          summaryLine(
            'waiting',
            waiting,
            'retried until they succeed; to see their outcomes later, send this file again',
          ),
        ]
      : []),
    ...reasonRows(summary.waiting_reasons),
    ...refusedLines(refused, summary.refused_lines),
    ...(repeated > 0 ? [summaryLine('repeated', repeated, `accepted before, not sent again${retries}`)] : []),
  ].join('\n')
}
