// The conversions: one row for each identifier with a status, and their numbers by day, activity, action and stage, which triggers
// keep. A report never scans the rows.

import { type KnownRef, type LaneRef, laneRefKey } from '../../base/queue/find-refs.ts'
import { noId } from '../../base/queue/outcome-counts.ts'
import { counters, forgetZeroCounts } from '../../base/store/counters.ts'
import type { Database, Migration, Op } from '../../base/store/database.ts'
import { dayOf, forgetOld } from '../../base/store/forget-old.ts'
import { op, rows, statement } from '../../base/store/statement.ts'
import { readMessageKey } from '../../contract/message-key.ts'
import type { MessageStatus } from '../../contract/status.ts'
import { isFailure, type Stage, stageOf } from './stage.ts'

// The name of a count: '20417 7 9 3' is the day, the activity, the action, and the stage or 'failed'.
export const countedMigrations: readonly Migration[] = [
  {
    name: 'conversions/2',
    statements: ({ engine, key }) => [
      `create table conversions (
         lane ${key} not null, ref ${key} not null, day bigint not null, activity ${key} not null, action ${key} not null,
         stage bigint not null, failed bigint not null,
         primary key (lane, ref))${engine === 'sqlite' ? ' without rowid' : ''}`,
      `create index conversions_day on conversions (day, lane, ref)`,
    ],
    brandTables: [{ table: 'conversions', lane: 'lane' }],
  },
  counters({
    table: 'conversion_counts',
    counted: 'conversions',
    scope: 'lane',
    counts: [
      {
        name: (row) =>
          `(${row}.day || ' ' || ${row}.activity || ' ' || ${row}.action || ' ' ||
            case when ${row}.stage = 0 and ${row}.failed = 1 then 'failed' else ${row}.stage || '' end)`,
        n: () => '1',
        of: ['stage', 'failed'],
      },
    ],
  }),
]

// The stage only rises, and `failed` is only set: the order of the calls does not matter.
const upsertConversions = statement('upsert_conversions', {
  lane: 'text',
  ref: 'text',
  day: 'bigint',
  activity: 'text',
  action: 'text',
  stage: 'bigint',
  failed: 'bigint',
})`
  insert into conversions (lane, ref, day, activity, action, stage, failed)
  select r.lane, r.ref, min(r.day), min(r.activity), min(r.action), max(r.stage), max(r.failed)
  from ${rows} r where true group by r.lane, r.ref order by r.lane, r.ref
  on conflict (lane, ref) do update set
    stage = case when excluded.stage > conversions.stage then excluded.stage else conversions.stage end,
    failed = case when excluded.failed > conversions.failed then excluded.failed else conversions.failed end
  where excluded.stage > conversions.stage or excluded.failed > conversions.failed`

/** The operation that counts these statuses. Their messages are known. */
export function conversionsOp(
  statuses: readonly (LaneRef & { readonly status: MessageStatus })[],
  known: ReadonlyMap<string, KnownRef>,
): Op {
  return op(
    upsertConversions,
    statuses.flatMap(({ lane, ref, status }) => {
      const message = known.get(laneRefKey({ lane, ref }))
      if (message === undefined) return []
      const { activityId, actionId } = readMessageKey(message.key)
      // The queue has counted the failure of the send itself.
      const failed = isFailure(status) && message.failed === 0 ? 1 : 0
      return [[lane, ref, dayOf(message.enqueued_at), activityId ?? noId, actionId ?? noId, stageOf[status], failed]]
    }),
  )
}

export interface ConversionCount {
  readonly activity: string
  readonly action: string
  readonly stage: Stage | 'failed'
  readonly messages: number
}

const selectCounts = statement<{ name: string; messages: number }>({
  name: 'select_conversion_counts',
  columns: { lane: 'text', first: 'text', after: 'text' },
  text: (rows) => `
    select c.name, sum(c.n) as messages from ${rows} r
    join conversion_counts c on c.scope = r.lane and c.name >= r.first and c.name < r.after
    group by c.name having sum(c.n) > 0`,
})

/** The counts of a lane for messages that were enqueued on these days, both included. */
export async function readConversionCounts(
  database: Database,
  lane: string,
  since: number,
  until: number,
): Promise<readonly ConversionCount[]> {
  // A day has five digits until the year 2243.
  const days = [`${since} `.padStart(6, '0'), `${until + 1} `.padStart(6, '0')]
  const rows = await database.read(op(selectCounts, [[lane, ...days]]))
  return rows.map(({ name, messages }) => {
    const [, activity, action, stage] = name.split(' ') as [string, string, string, string]
    return { activity, action, stage: stage === 'failed' ? stage : (Number(stage) as Stage), messages }
  })
}

const forgetOldConversions = forgetOld({ table: 'conversions', key: 'lane, ref', age: 'day', unit: 'day' })

/** Deletes conversions of days that ended before this time (epoch ms), then counts of 0. @returns how many; 0: none are left */
export async function forgetConversions(database: Database, before: number): Promise<number> {
  const deleted = await forgetOldConversions(database, before)
  if (deleted === 0) await forgetZeroCounts(database, 'conversion_counts')
  return deleted
}
