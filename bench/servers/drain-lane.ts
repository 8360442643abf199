// A lane with a provider that accepts at once, to measure only the queue. argv: a store's URL.

import { createQueue, queueMigrations } from '../../src/base/queue/create-queue.ts'
import type { HandledOutcome } from '../../src/base/queue/queue.ts'
import { on } from '../../src/base/runtime/events.ts'
import { uuidv7 } from '../../src/base/runtime/ids.ts'
import { openDatabase } from '../../src/base/store/open-database.ts'
import { query } from '../../test/support/services/postgres.ts'
import { handleCalls } from '../harness/handle-calls.ts'
import { activityRecord, firstId } from '../harness/requests.ts'

const [url = ''] = process.argv.slice(2)
const database = await openDatabase(url, { migrations: queueMigrations })
const queue = createQueue(database)
let next = firstId

let settled = 0
let awaited = 0
let allSettled = (): void => {}
on('item.settled', () => {
  if (++settled === awaited) allSettled()
})

const accepted = (): HandledOutcome => ({ category: 'successful', ref: uuidv7(), rule: 'accepted' })
const refused = (): HandledOutcome => ({
  category: 'failed',
  reason: 'rejected',
  error: 'no such user',
  rule: 'refused',
})

handleCalls({
  async fill(rows: number) {
    for (let from = 0; from < rows; from += 1_000) {
      const items = Array.from({ length: 1_000 }, () => {
        const id = String(next++)
        return { key: id, text: activityRecord(id, next, 400) }
      })
      await queue.enqueue('1/push', items)
    }
    await analyze()
  },
  drain: (rows: number) => serveUntil(rows, accepted),
  async fail(rows: number) {
    await serveUntil(rows, refused)
    await analyze()
  },
  async replay() {
    let after: string | undefined
    do {
      const { next } = await queue.decideFailed({ lane: '1/push' }, 'replay', after === undefined ? {} : { after })
      after = next
    } while (after !== undefined)
  },
})

/** Serves the lane until this number of rows is settled. @returns the seconds */
async function serveUntil(rows: number, outcomeOf: () => HandledOutcome): Promise<number> {
  settled = 0
  awaited = rows
  const done = new Promise<void>((resolve) => {
    allSettled = resolve
  })
  const lane = queue.serveLane(
    {
      name: '1/push',
      order: 'none',
      max: 1_000,
      bytes: 4 * 1024 * 1024,
      spanMs: 0,
      concurrency: 4,
      timeoutMs: 30_000,
      keepFailed: true,
      retry: { firstMs: 1_000, mostMs: 300_000 },
    },
    async (items) => items.map(outcomeOf),
  )
  const began = performance.now()
  lane.start()
  await done
  const seconds = (performance.now() - began) / 1000
  await lane.stop()
  return seconds
}

// Otherwise the plans are based on statistics of an empty table.
async function analyze(): Promise<void> {
  if (database.engine === 'postgres') await query(url, 'analyze')
}
