import type { RecordOutcome } from './outcomes.ts'

export interface Reasons {
  [reason: string]: { count: number; example: string }
}

/** What `bellwire send --json` prints. */
export interface Summary {
  readonly file: string
  /** Lines of the file that are not empty. */
  lines: number
  /** Lines that the platform had not seen before. */
  accepted: number
  /** Lines that it had: nothing is sent for them again, and they have the outcome of the first. */
  repeated: number
  /** Requests that had to be sent more than once, so that some of `repeated` are our own. */
  requests_repeated: number
  successful: number
  /** Of the successful: delivered, but the operator gave no identifier. */
  untracked: number
  failed: number
  waiting: number
  refused: number
  /** Of the failed. */
  readonly reasons: Reasons
  /** Of the waiting, where the platform knows. */
  readonly waiting_reasons: Reasons
  /** The first of the refused. */
  readonly refused_lines: { line: number; error: string }[]
  seconds: number
}

const refusedShown = 100
const reasonsKept = 100

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

export function countRefused(summary: Summary, refused: readonly { line: number; error: string }[]): void {
  summary.refused += refused.length
  summary.refused_lines.push(...refused.slice(0, refusedShown - summary.refused_lines.length))
}

export function countOutcome(summary: Summary, { category, untracked, reason, error = '' }: RecordOutcome): void {
  summary[category]++
  if (untracked) summary.untracked++
  if (category === 'failed') countReason(summary.reasons, reason ?? 'failed', error)
  if (category === 'waiting' && reason !== undefined) countReason(summary.waiting_reasons, reason, error)
}

function countReason(reasons: Reasons, reason: string, error: string): void {
  const name = Object.hasOwn(reasons, reason) || Object.keys(reasons).length < reasonsKept ? reason : 'others'
  const known = Object.hasOwn(reasons, name) ? reasons[name] : undefined
  if (known) known.count++
  else reasons[name] = { count: 1, example: error }
}

/** Whether every record of the file has arrived. */
export function allSuccessful({ lines, successful }: Summary): boolean {
  return successful === lines
}

/** The summary for a person. */
export function phraseSummary(summary: Summary): string {
  const { file, lines, successful, untracked, failed, waiting, refused, repeated, requests_repeated, seconds } = summary
  const row = (name: string, count: number, more = ''): string =>
    `  ${name.padEnd(10)} ${count.toLocaleString('en').padStart(12)}${more && `   ${more}`}`
  const because = (reasons: Reasons): string[] => {
    const sorted = Object.entries(reasons).toSorted(([, a], [, b]) => b.count - a.count)
    return [
      ...sorted.slice(0, 5).map(([reason, { count, example }]) => row('', count, `${reason}: ${example}`)),
      ...(sorted.length > 5 ? [`  and ${sorted.length - 5} more reasons`] : []),
    ]
  }
  const own = requests_repeated > 0 ? `, ${requests_repeated} requests of this run among them` : ''
  return [
    `${file}: ${lines.toLocaleString('en')} records in ${seconds} s`,
    row('successful', successful),
    ...(untracked > 0 ? [row('', untracked, 'untracked: delivered, but the operator gave no identifier')] : []),
    row('failed', failed),
    ...because(summary.reasons),
    ...(waiting > 0
      ? [row('waiting', waiting, 'sent again until they succeed; ask later by sending this file again')]
      : []),
    ...because(summary.waiting_reasons),
    ...(refused > 0 ? [row('refused', refused)] : []),
    ...summary.refused_lines.slice(0, 10).map(({ line, error }) => `      line ${line}: ${error}`),
    ...(refused > 10 ? [`      and ${refused - 10} more; --json lists the first ${refusedShown}`] : []),
    ...(repeated > 0 ? [row('repeated', repeated, `known before, not sent again${own}`)] : []),
  ].join('\n')
}
