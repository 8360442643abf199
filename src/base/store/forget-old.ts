import { firstUuidv7 } from '../runtime/ids.ts'
import type { Database } from './database.ts'
import { op, rows, statement } from './statement.ts'

const dayMs = 86_400_000
/** Days since 1970, UTC. */
export const dayOf = (ms: number): number => Math.floor(ms / dayMs)

/** How a column states the age of its row: an identifier that begins with its time, epoch milliseconds, or days since 1970. */
const units = {
  id: { type: 'text', first: firstUuidv7 },
  ms: { type: 'bigint', first: (ms: number) => ms },
  day: { type: 'bigint', first: dayOf },
} as const

export interface OldRows {
  readonly table: string
  /** The columns of the primary key. */
  readonly key: string
  /** The column with the age of the row `o`, and its unit. */
  readonly age: string
  readonly unit: keyof typeof units
  /** On PostgreSQL the table has a partition for each day. */
  readonly partitioned?: true
  /** A further condition on the row `o`. @param ms SQL for the time before which rows are old, in epoch milliseconds */
  readonly where?: (ms: string) => string
}

/**
 * The retention of a table, as a function that deletes at most `most` of the oldest rows from before a time (epoch ms). Call it
 * until it returns 0. Of a table with partitions, whole days are deleted.
 *
 * @example
 * export const forgetCalls = forgetOld({ table: 'calls', key: 'id', age: 'id', unit: 'id' })
 * while ((await forgetCalls(database, Date.now() - keptMs)) > 0);
 */
export function forgetOld({ table, key, age, unit, partitioned, where }: OldRows) {
  const { type, first } = units[unit]
  const deleteOld = statement<{ gone: number }>(`forget_${table}`, { first: type, ms: 'bigint', most: 'bigint' })`
    delete from ${table} where (${key}) in (
      select ${key} from ${table} o
      where o.${age} < (select r.first from ${rows} r)${where ? ` and ${where(`(select r.ms from ${rows} r)`)}` : ''}
      order by o.${age} limit (select r.most from ${rows} r))
    returning 1 as gone`
  return async (
    database: Pick<Database, 'commit' | 'dropPartitions'>,
    before: number,
    most = 2_000,
  ): Promise<number> => {
    if (partitioned && database.dropPartitions) return database.dropPartitions(table, before)
    const [gone] = await database.commit([op(deleteOld, [[first(before), before, most]])])
    return gone.length
  }
}
