import assert from 'node:assert/strict'
import { forgetSettled } from '../../src/base/queue/retention.ts'
import { op, statement } from '../../src/base/store/statement.ts'
import { onEachEngine } from '../support/engines.ts'
import { openQueue } from './open-queue.ts'

const selectLost = statement<{ seq: number }>('select_lost', {})`
  select w.seq from waiting w where not exists (select 1 from items i where i.seq = w.seq)`

onEachEngine('an item that is replayed while it is forgotten is either replayed or forgotten', async (t, store) => {
  const { database, queue } = await openQueue(t, store)
  const later = Date.now() + 60_000
  for (let round = 0; round < 20; round++) {
    const failed = Array.from({ length: 20 }, (_, i) => ({
      key: `${round} ${i}`,
      text: 'text',
      reason: 'invalid' as const,
      error: 'no',
      rule: 'none',
    }))
    await database.commit(queue.insertFailedOps('1/intake', failed))
    await Promise.all([
      forgetSettled(database, later),
      queue.decideFailed({ lane: '1/intake' }, 'replay', { by: 'office' }),
    ])
  }
  assert.deepEqual(await database.read(op(selectLost, [[]])), [])
})
