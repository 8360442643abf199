// Packs settled items into runs: consecutive successful items share one row. Pure.

import { type SettledState, settledState } from '../tables.ts'

export interface SettledItem {
  readonly seq: number
  readonly state: SettledState
  readonly attempt: number
  readonly rule: string
  /** Stored by identifiers.ts, not in a run. */
  readonly ref?: string | undefined
  readonly call?: string | undefined
  readonly reason?: string | undefined
  readonly error?: string | undefined
}

export interface SettledRun {
  readonly first: number
  readonly last: number
  readonly state: SettledState
  /** JSON of the fields of SettledItem: one value for all items, or an array in the order of the seqs. */
  readonly detail: string
}

/** Limits how much a look-up of one item reads. */
const maxRunLength = 2_000

/**
 * Packs settled items into runs. Only successful items share a run: a failed item may be replayed, and its new row then
 * replaces its own row.
 *
 * @param settled sorted by seq
 * @example packRuns([{ seq: 5, state: 1, attempt: 1, rule: 'r', call: 'a' }, { seq: 6, state: 1, attempt: 1, rule: 'r', call: 'b' }])
 * // [{ first: 5, last: 6, state: 1, detail: '{"attempt":1,"rule":"r","call":["a","b"]}' }]
 */
export function packRuns(settled: readonly SettledItem[]): SettledRun[] {
  const runs: SettledRun[] = []
  let from = 0
  for (let i = 1; i <= settled.length; i++) {
    const before = settled[i - 1] as SettledItem
    if (i < settled.length && i - from < maxRunLength && extendsRun(before, settled[i] as SettledItem)) continue
    runs.push(createRun(settled.slice(from, i)))
    from = i
  }
  return runs
}

function extendsRun(before: SettledItem, item: SettledItem): boolean {
  const { successful } = settledState
  return item.seq === before.seq + 1 && before.state === successful && item.state === successful
}

const fields = ['attempt', 'rule', 'call', 'reason', 'error'] as const

function createRun(settled: readonly SettledItem[]): SettledRun {
  const first = settled[0] as SettledItem
  const detail: Record<string, unknown> = {}
  for (const field of fields) {
    if (settled.some((item) => item[field] !== first[field])) detail[field] = settled.map((item) => item[field] ?? null)
    else if (first[field] !== undefined) detail[field] = first[field]
  }
  const last = first.seq + settled.length - 1
  return { first: first.seq, last, state: first.state, detail: JSON.stringify(detail) }
}

/** Parses a run once. @returns a function that returns one of its items */
export function unpackRun(run: SettledRun): (seq: number) => Omit<SettledItem, 'ref'> {
  const detail = JSON.parse(run.detail) as Record<string, unknown>
  return (seq) => {
    const settled: Record<string, unknown> = { seq, state: run.state }
    for (const field of fields) {
      const values = detail[field]
      const value = Array.isArray(values) ? (values[seq - run.first] ?? undefined) : values
      if (value !== undefined) settled[field] = value
    }
    return settled as unknown as Omit<SettledItem, 'ref'>
  }
}
