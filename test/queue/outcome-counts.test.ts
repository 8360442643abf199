import assert from 'node:assert/strict'
import { outcomeCountsOp, readOutcomeCounts } from '../../src/base/queue/outcome-counts.ts'
import { op, statement } from '../../src/base/store/statement.ts'
import { onEachEngine } from '../support/engines.ts'
import { bufferedItem } from './buffered-items.ts'
import { openQueue } from './open-queue.ts'

onEachEngine('an action keeps its action group if a process counts a cancelled message first', async (t, store) => {
  const { database } = await openQueue(t, store)
  const insertCount = statement('insert_count', {})`
    insert into outcome_counts (lane, day, activity, action, action_group, successful, failed)
    values ('5/push', 0, '7', '9', '8', 1, 0)`
  await database.commit([op(insertCount, [[]])])
  const cancelled = bufferedItem(2, { key: '["push","2","1001","7","9","hash"]', text: '', enqueuedAt: 0 })
  await database.commit([outcomeCountsOp('5/push', [{ item: cancelled, failed: {} }])])
  assert.deepEqual(
    (await readOutcomeCounts(database, '5/push', 0, 0)).map((row) => ({ ...row })),
    [{ activity: '7', action: '9', action_group: '8', successful: 1, failed: 1 }],
  )
})
