// What became of items, packed: consecutive ones that succeeded share a row. Pure.

import { type SettledState, settledState } from './tables.ts'

export interface Settled {
  readonly seq: number
  readonly state: SettledState
  readonly attempt: number
  readonly rule: string
  /** Stored in identifiers.ts, not in a run. */
  readonly ref?: string | undefined
  readonly call?: string | undefined
  readonly reason?: string | undefined
  readonly error?: string | undefined
}

export interface Run {
  readonly first: number
  readonly last: number
  readonly state: SettledState
  /** JSON of the fields of Settled: one value for all, or an array in the order of the seqs. */
  readonly detail: string
}

/** So that a look-up of one item reads little. */
const longest = 2_000

/**
 * Packs what was settled into runs. Only successes share one: a failed item may be replayed and then gets another row in
 * the place of its own.
 *
 * @param settled sorted by seq
 * @example pack([{ seq: 5, state: 1, attempt: 1, rule: 'r', call: 'a' }, { seq: 6, state: 1, attempt: 1, rule: 'r', call: 'b' }])
 * // [{ first: 5, last: 6, state: 1, detail: '{"attempt":1,"rule":"r","call":["a","b"]}' }]
 */
export function pack(settled: readonly Settled[]): Run[] {
  const runs: Run[] = []
  let from = 0
  for (let i = 1; i <= settled.length; i++) {
    if (i < settled.length && i - from < longest && follows(settled[i - 1] as Settled, settled[i] as Settled)) continue
    runs.push(toRun(settled.slice(from, i)))
    from = i
  }
  return runs
}

function follows(a: Settled, b: Settled): boolean {
  return b.seq === a.seq + 1 && a.state === settledState.successful && b.state === settledState.successful
}

const fields = ['attempt', 'rule', 'call', 'reason', 'error'] as const

function toRun(settled: readonly Settled[]): Run {
  const first = settled[0] as Settled
  const detail: Record<string, unknown> = {}
  for (const field of fields) {
    if (settled.some((each) => each[field] !== first[field])) detail[field] = settled.map((each) => each[field] ?? null)
    else if (first[field] !== undefined) detail[field] = first[field]
  }
  const last = first.seq + settled.length - 1
  return { first: first.seq, last, state: first.state, detail: JSON.stringify(detail) }
}

/** Looks items up in a run, parsing it once. */
export function unpack(run: Run): (seq: number) => Omit<Settled, 'ref'> {
  const detail = JSON.parse(run.detail) as Record<string, unknown>
  return (seq) => {
    const settled: Record<string, unknown> = { seq, state: run.state }
    for (const field of fields) {
      const value = detail[field]
      const mine = Array.isArray(value) ? (value[seq - run.first] ?? undefined) : value
      if (mine !== undefined) settled[field] = mine
    }
    return settled as unknown as Omit<Settled, 'ref'>
  }
}
