// Retention of statuses.

import { firstUuidv7 } from '../../base/runtime/ids.ts'
import type { Database } from '../../base/store/database.ts'
import { forgetOld } from '../../base/store/forget-old.ts'
import { op, rows, statement } from '../../base/store/statement.ts'

const batchRows = 2_000

/** Identifiers begin with their time, so the oldest messages are at the start of the primary keys. */
const oldest = (rows: string): string => `
  select m.ref from status_messages m where m.ref < (select r.before from ${rows} r)
  order by m.ref limit (select r.most from ${rows} r)`

const deleteStatuses = statement('forget_statuses', { before: 'text', most: 'bigint' })`
  delete from statuses where ref in (${oldest(rows)})`

const deleteMessages = statement<{ gone: number }>('forget_status_messages', { before: 'text', most: 'bigint' })`
  delete from status_messages where ref in (${oldest(rows)})
  returning 1 as gone`

/** The cursor of a reader that has everything names the last batch, which is therefore kept. */
const forgetBatches = forgetOld({
  table: 'status_batches',
  key: 'last',
  age: 'at',
  unit: 'ms',
  where: () => 'o.last < (select c.last from status_counter c)',
})

/** Deletes a bounded number of messages older than `before` (epoch ms), with their statuses. Call it until it returns 0. */
export async function forgetStatuses(database: Pick<Database, 'commit'>, before: number): Promise<number> {
  const row = [firstUuidv7(before), batchRows]
  const [, messages] = await database.commit([op(deleteStatuses, [row]), op(deleteMessages, [row])])
  return messages.length + (await forgetBatches(database, before))
}
