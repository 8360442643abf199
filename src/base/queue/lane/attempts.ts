// The earlier unsuccessful attempts of items: attempts that were followed by a retry or a replay. The last failed attempt is the
// row in `failed`. Attempts are written with the next settle or postponement, so an outage, which counts no attempt, writes none.

import { shortened } from '../../../contract/storable.ts'
import type { Database, Migration, Op, Value } from '../../store/database.ts'
import { forgetOld } from '../../store/forget-old.ts'
import { op, rows, statement } from '../../store/statement.ts'
import { failedState } from '../failed/failed-state.ts'
import type { Attempt } from '../queue.ts'

/** An item keeps its first and its last attempts, this many of each, since it was enqueued or replayed. */
export const attemptsKept = 20

// `replay`: how often the item was replayed before this attempt. `slot`: 0 for the last attempt before a replay.
export const attemptMigrations: readonly Migration[] = [
  {
    name: 'attempts/1',
    statements: ({ engine, key }) => [
      `create table attempts (
         seq bigint not null, replay bigint not null, slot bigint not null, attempt bigint not null, at bigint not null,
         outcome text not null, status bigint, reason text not null, rule text not null, error text not null, answer text,
         call ${key},          replayed_by text, replayed_at bigint, primary key (seq, replay, slot))${engine === 'sqlite' ? ' without rowid' : ''}`,
      `create index attempts_at on attempts (at)`,
    ],
    brandTables: [
      {
        table: 'attempts',
        belongs: (isOfBrand) => `exists (select from items i where i.seq = t.seq and ${isOfBrand('i.lane')})`,
        shifted: ({ items }) => ({ seq: `t.seq + ${items}` }),
        refersTo: { calls: 't.call' },
      },
    ],
  },
]

const shown = 'attempt, at, outcome, status, reason, rule, error, answer, call'
const overwrite = [
  'attempt',
  'at',
  'outcome',
  'reason',
  'rule',
  'error',
  'answer',
  'call',
  'replayed_by',
  'replayed_at',
]
  .map((column) => `${column} = excluded.${column}`)
  .join(', ')

const insertAttempts = statement({
  name: 'record_attempts',
  columns: {
    seq: 'bigint',
    slot: 'bigint',
    attempt: 'bigint',
    at: 'bigint',
    outcome: 'text',
    status: 'bigint',
    reason: 'text',
    rule: 'text',
    error: 'text',
    answer: 'text',
    call: 'text',
  },
  text: (rows) => `
    insert into attempts (seq, replay, slot, ${shown})
    select r.seq, coalesce((select f.replays from failed f where f.seq = r.seq), 0), r.slot,
      ${shown.replaceAll(/\w+/g, 'r.$&')}
    from ${rows} r where true
    on conflict (seq, replay, slot) do update set ${overwrite}`,
})

/** The operation that inserts the earlier attempts of settled or postponed items. */
export function attemptsOp(items: readonly ItemWithAttempts[]): Op {
  // One row for each slot: PostgreSQL refuses a statement that changes a row twice.
  const rows = new Map<string, Value[]>()
  for (const { seq, earlierAttempts = [] } of items)
    for (const each of earlierAttempts) rows.set(`${seq} ${slotOf(each.attempt)}`, rowOf(seq, each))
  return op(insertAttempts, [...rows.values()])
}

/** The first attempts have a slot each, the later ones use 20 slots in turn. */
const slotOf = (attempt: number): number =>
  attempt <= attemptsKept ? attempt : attemptsKept + 1 + (attempt % attemptsKept)

function rowOf(
  seq: number,
  { attempt, at, outcome, status, reason, rule, error, answer, call }: EarlierAttempt,
): Value[] {
  const text = (value: string): string => shortened(value, 300)
  const given = answer === undefined ? null : text(answer)
  const texts = [text(reason), text(rule), text(error), given]
  return [seq, slotOf(attempt), attempt, at, outcome, storedStatus(status), ...texts, call ?? null]
}

/**
 * Copies failed items that are being replayed, with the person who replays them. Their rows in `failed` will have the next
 * failure. The input rows and `isDecided` are those of decide-failed.ts.
 */
export const archiveFailed = (columns: Readonly<Record<string, 'text' | 'bigint'>>, isDecided: string) =>
  statement('archive_failed', columns)`
    insert into attempts (seq, replay, slot, ${shown}, replayed_by, replayed_at)
    select f.seq, f.replays - 1, 0, f.attempts, f.at, 'failed', f.status, f.reason, f.rule, f.error,
      f.answer, f.call, f.decided_by, f.decided_at
    from ${rows} r cross join failed f where ${isDecided}
    on conflict (seq, replay, slot) do update set ${overwrite}`

// A replayed item is in `attempts` already.
const selectAttempts = statement<Attempt & { readonly seq: number }>('select_attempts', { seq: 'bigint' })`
  select a.seq, a.replay, a.attempt, a.at, a.outcome, a.status, a.reason, a.rule, a.error, a.answer, a.call,
    a.replayed_by as "replayedBy", a.replayed_at as "replayedAt"
  from ${rows} r cross join attempts a where a.seq = r.seq
  union all
  select f.seq, f.replays, f.attempts, f.at, 'failed', f.status, f.reason, f.rule, f.error, f.answer, f.call, null, null
  from ${rows} r cross join failed f where f.seq = r.seq and f.state <> ${failedState.replayed}
  order by 1, 2, 3, 4`

/** Reads the unsuccessful attempts of these items, the oldest first. */
export async function readAttempts(
  database: Database,
  seqs: readonly number[],
): Promise<ReadonlyMap<number, readonly Attempt[]>> {
  const attempts = new Map<number, Attempt[]>()
  const rows = seqs.map((seq) => [seq])
  for (const { seq, ...attempt } of await database.read(op(selectAttempts, rows)))
    attempts.set(seq, [...(attempts.get(seq) ?? []), attempt])
  return attempts
}

export const forgetAttempts = forgetOld({ table: 'attempts', key: 'seq, replay, slot', age: 'at', unit: 'ms' })

/** A provider of your own may give any value. */
export const storedStatus = (status: unknown): number | null => (Number.isSafeInteger(status) ? Number(status) : null)

interface ItemWithAttempts {
  readonly seq: number
  readonly earlierAttempts: readonly EarlierAttempt[] | undefined
}

/** An attempt in memory. */
export type EarlierAttempt = Pick<Attempt, 'attempt' | 'at' | 'outcome' | 'reason' | 'rule' | 'error'> & {
  readonly answer?: string | undefined
  readonly status?: number | undefined
  readonly call?: string | undefined
}
