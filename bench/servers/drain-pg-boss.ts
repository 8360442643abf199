// pg-boss, used as its documentation recommends for throughput: bulk insert, then fetch and complete in batches by a few loops.
// argv: a store's URL (its schema is pg-boss's), rows in a fetch, loops.

import { PgBoss } from 'pg-boss'
import { query } from '../../test/support/services/postgres.ts'
import { handleCalls } from '../harness/handle-calls.ts'
import { activityRecord, firstId } from '../harness/requests.ts'

const [url = '', batchSize = '1000', loops = '2'] = process.argv.slice(2)
const lane = 'drain'
const { connectionString, schema } = withoutSchema(url)
const boss = new PgBoss({ connectionString, schema, supervise: false, schedule: false })
boss.on('error', (error) => console.error(error))
await boss.start()
await boss.createQueue(lane)
let next = firstId

handleCalls({
  async fill(rows: number) {
    for (let from = 0; from < rows; from += 1_000) {
      const jobs = Array.from({ length: 1_000 }, () => ({
        data: JSON.parse(activityRecord(String(next++), next, 400)),
      }))
      await boss.insert(lane, jobs)
    }
    // Otherwise the plans are based on statistics of an empty table, and pg-boss is fifteen times slower: not a fair baseline.
    await query(url, 'analyze')
  },
  async drain(rows: number) {
    const began = performance.now()
    let done = 0
    const loop = async (): Promise<void> => {
      while (done < rows) {
        const jobs = await boss.fetch(lane, { batchSize: Number(batchSize) })
        if (jobs.length === 0) return
        await boss.complete(
          lane,
          jobs.map(({ id }) => id),
        )
        done += jobs.length
      }
    }
    await Promise.all(Array.from({ length: Number(loops) }, loop))
    if (done !== rows) throw new Error(`pg-boss returned ${done} of ${rows} rows`)
    return (performance.now() - began) / 1000
  },
})

function withoutSchema(store: string): { connectionString: string; schema: string } {
  const plain = new URL(store)
  const name = plain.searchParams.get('schema') as string
  plain.searchParams.delete('schema')
  return { connectionString: plain.href, schema: name }
}
