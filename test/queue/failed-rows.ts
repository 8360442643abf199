// Rows of the queue's tables, written and read directly, for tests with many failed items.

import type { Database } from '../../src/base/store/database.ts'
import { op, statement } from '../../src/base/store/statement.ts'

/** Inserts this many failed items, numbered from 1: error 'error 17.', user 'user 7', activity 0 to 3. The last ones have texts. */
export async function fillFailed(database: Database, count: number, texts = 2_000): Promise<void> {
  const fill = statement('fill_failed', {})`
    insert into failed (seq, lane, key, activity, action, user_id, reason, error, rule, attempts, at, state)
    with recursive n (i) as (select 1 union all select i + 1 from n where i < ${count})
    select i, '1/push', 'key ' || i, (i % 4) || '', '9', 'user ' || (i % 10), 'rejected', 'error ' || i || '.', 'refused', 1, i, 0
    from n`
  const addItems = statement('fill_items', {})`
    insert into items (seq, lane, key, text, enqueued_at, token) ${database.engine === 'postgres' ? 'overriding system value' : ''}
    select f.seq, f.lane, f.key, 'text', 1, f.seq from failed f where f.seq > ${count - texts}`
  await database.commit([op(fill, [[]]), op(addItems, [[]])])
}

export async function countRows(database: Database, table: string): Promise<number> {
  const count = statement<{ n: number }>('count_table', {})`select count(*) as n from ${table}`
  return (await database.read(op(count, [[]])))[0]?.n as number
}

const states = ['pending', 'dismissed', 'replayed']

/** The number of rows of each group: 'lane|activity|action|reason|state|count', sorted. */
export async function readStates(database: Database): Promise<readonly string[]> {
  const select = statement<{
    lane: string
    activity: string
    action: string
    reason: string
    state: number
    n: number
  }>({
    name: 'read_states',
    columns: {},
    text: () => `
      select f.lane, f.activity, f.action, f.reason, f.state, count(*) as n from failed f
      group by f.lane, f.activity, f.action, f.reason, f.state`,
  })
  const rows = await database.read(op(select, [[]]))
  return rows
    .map(({ lane, activity, action, reason, state, n }) => [lane, activity, action, reason, states[state], n].join('|'))
    .sort()
}
