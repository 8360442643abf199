// Retention of statuses, and the erasure of a user's meta.

import { firstUuidv7 } from '../../base/runtime/ids.ts'
import type { Database } from '../../base/store/database.ts'
import { forgetOld } from '../../base/store/forget-old.ts'
import { op, statement } from '../../base/store/statement.ts'

const batchRows = 2_000

/** Identifiers begin with their time, so the oldest messages are at the start of the primary keys. */
const oldest = (rows: string): string => `
  select m.ref from status_messages m where m.ref < (select r.before from ${rows} r)
  order by m.ref limit (select r.most from ${rows} r)`

const deleteStatuses = statement({
  name: 'forget_statuses',
  columns: { before: 'text', most: 'bigint' },
  text: (rows) => `
    delete from statuses where ref in (${oldest(rows)})`,
})

const deleteMessages = statement<{ gone: number }>({
  name: 'forget_status_messages',
  columns: { before: 'text', most: 'bigint' },
  text: (rows) => `
    delete from status_messages where ref in (${oldest(rows)})
    returning 1 as gone`,
})

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

const eraseMeta = statement({
  name: 'erase_status_meta',
  columns: { brand: 'text', user_id: 'text', ref: 'text' },
  text: (rows) => `
    update status_messages set meta = null
    where exists (
      select 1 from ${rows} r
      where r.ref = status_messages.ref and r.brand = status_messages.brand and r.user_id = status_messages.user_id)`,
})

/** Erases the meta of these messages of a user. Their statuses stay, and are returned without meta from then on. */
export async function eraseStatusMeta(
  database: Pick<Database, 'commit'>,
  brand: string,
  userId: string,
  refs: readonly string[],
): Promise<void> {
  const rows = refs.map((ref) => [brand, userId, ref])
  if (rows.length > 0) await database.commit([op(eraseMeta, rows)])
}
