// Four writers record statuses, in short and in long transactions that end in any order, while two pollers read them.

import assert from 'node:assert/strict'
import { postgresStore, type Store, sqliteStore } from '../../bench/harness/stores.ts'
import { uuidv7 } from '../../src/base/runtime/ids.ts'
import type { Database } from '../../src/base/store/database.ts'
import { openDatabase } from '../../src/base/store/open-database.ts'
import type { MessageStatus } from '../../src/contract/status.ts'
import { createStatusPages } from '../../src/subjects/status/pages.ts'
import { createStatusRecorder, type FirstStatus } from '../../src/subjects/status/recorder.ts'
import { statusMigrations } from '../../src/subjects/status/tables.ts'
import { randomFrom } from '../../test/contract/json-maker.ts'
import { connect } from '../../test/support/services/postgres.ts'
import type { Proof } from '../harness/proof.ts'

/** The statuses of each message, in the order in which they are recorded. */
const steps: readonly MessageStatus[] = ['sent', 'delivered', 'displayed', 'clicked']
const brands = ['1', '2'] as const
const at = '2026-01-01T10:00:00'

const proofOn = (engine: 'sqlite' | 'postgres', open: () => Promise<Store>): Proof => ({
  name: `status-${engine}`,
  claims: `of 1,000,000 statuses from four writers with short and long transactions, two pollers skip none and read none twice (${engine})`,
  ...(engine === 'postgres' && { needs: ['postgres'] }),
  boundSeconds: { small: 120, full: 1_800 },
  async run({ small, print }, signal) {
    const messages = (small ? 8_000 : 1_000_000) / steps.length
    await using store = await open()
    const databases: Database[] = []
    // On PostgreSQL each writer and poller is a process of its own, as far as the database can see. SQLite has one process.
    const connect = async (): Promise<Database> => {
      const first = databases[0]
      if (engine === 'sqlite' && first) return first
      const database = await openDatabase(store.url, { migrations: statusMigrations })
      databases.push(database)
      return database
    }
    try {
      await connect()
      const share = Math.ceil(messages / 4)
      const parts = [0, 1, 2, 3].map((n) => ({ from: n * share, to: Math.min(messages, (n + 1) * share) }))
      const longest = { rows: small ? 200 : 2_000, ms: small ? 50 : 500 }
      const writers = parts.map(async ({ from, to }, n) => {
        const random = randomFrom(n + 1)
        if (n < 2) return writeShort(await connect(), from, to, random)
        if (engine === 'postgres') return writeLong(store.url, from, to, random, longest)
        return writeShort(await connect(), from, to, random, longest.rows)
      })
      let written = false
      const writing = Promise.all(writers).finally(() => {
        written = true
      })
      const began = performance.now()
      const pollers = [0, 2].map(async (restMs) => {
        const database = await connect()
        return poll(database, messages, restMs, () => written, signal)
      })
      const [rolledBack] = await Promise.all([writing])
      const writeSeconds = (performance.now() - began) / 1_000
      const found = await Promise.all(pollers)
      for (const [n, { seen, pages }] of found.entries()) {
        const skipped = seen.filter((count) => count === 0).length
        const twice = seen.filter((count) => count > 1).length
        print(`poller ${n + 1}: ${pages} pages, ${skipped} statuses skipped, ${twice} read twice`)
        assert.deepEqual({ skipped, twice }, { skipped: 0, twice: 0 })
      }
      return {
        statuses: messages * steps.length,
        written_per_second: Math.round((messages * steps.length) / writeSeconds),
        pages: found.reduce((sum, { pages }) => sum + pages, 0),
        rolled_back: rolledBack.reduce((sum, count) => sum + count, 0),
      }
    } finally {
      await Promise.all(databases.map((database) => database.close()))
    }
  },
})

export const statusProofs: readonly Proof[] = [proofOn('sqlite', sqliteStore), proofOn('postgres', postgresStore)]

/** The number of a message is its activity.id. */
function firstOf(number: number): FirstStatus {
  return {
    brand: brands[number % brands.length] as string,
    ref: uuidv7(),
    channel: 'push',
    userId: '1001',
    status: steps[0] as MessageStatus,
    at,
    meta: `{"activity":{"id":${number}}}`,
  }
}

/** Commits of 1 to `most` messages: first their first status, then each further one. @returns 0: nothing was rolled back */
async function writeShort(
  database: Database,
  from: number,
  to: number,
  random: () => number,
  most = 50,
): Promise<number> {
  const recorder = createStatusRecorder({ database })
  for (let next = from; next < to; ) {
    const count = Math.min(to - next, 1 + Math.floor(random() * most))
    const firsts = Array.from({ length: count }, (_, n) => firstOf(next + n))
    next += count
    await database.commit(recorder.firstOps(firsts))
    for (const status of steps.slice(1))
      await database.commit(recorder.changeOps(firsts.map(({ brand, ref }) => ({ brand, ref, status, at }))))
  }
  return 0
}

/** Transactions that stay open between their statements. One in five is rolled back and written again. */
async function writeLong(
  url: string,
  from: number,
  to: number,
  random: () => number,
  longest: { readonly rows: number; readonly ms: number },
): Promise<number> {
  const client = await connect(url)
  let rolledBack = 0
  try {
    for (let next = from; next < to; ) {
      const count = Math.min(to - next, 1 + Math.floor(random() * longest.rows))
      const firsts = Array.from({ length: count }, (_, n) => firstOf(next + n))
      const [refs, ofBrand, metas] = [
        firsts.map(({ ref }) => ref),
        firsts.map(({ brand }) => brand),
        firsts.map(({ meta }) => meta),
      ]
      await client.query('begin')
      await client.query(
        `insert into status_messages (ref, brand, channel, user_id, meta)
         select r, b, 'push', '1001', m from unnest($1::text[], $2::text[], $3::text[]) t(r, b, m)`,
        [refs, ofBrand, metas],
      )
      for (const status of steps) {
        await client.query(
          `insert into statuses (ref, status, brand, at, recorded_at)
           select r, $3, b, '${at}', $4 from unnest($1::text[], $2::text[]) t(r, b)`,
          [refs, ofBrand, status, Date.now()],
        )
        await new Promise((resolve) => setTimeout(resolve, (random() * longest.ms) / steps.length))
      }
      const isLost = random() < 0.2
      await client.query(isLost ? 'rollback' : 'commit')
      if (isLost) rolledBack++
      else next += count
    }
  } finally {
    await client.end()
  }
  return rolledBack
}

/** Polls until the writers have ended and nothing is left. `seen`: how often each status was read. */
async function poll(
  database: Database,
  messages: number,
  restMs: number,
  isWritten: () => boolean,
  signal: AbortSignal,
): Promise<{ readonly seen: Uint8Array; readonly pages: number }> {
  const pages = createStatusPages(database)
  const seen = new Uint8Array(messages * steps.length)
  let after: string | undefined
  for (let count = 0; ; count++) {
    signal.throwIfAborted()
    const last = isWritten()
    const page = await pages.read(brands, after, 1_000)
    if (page.restart !== undefined) throw new Error(`the cursor ${after} is unknown`)
    after = page.next
    for (const text of page.records) {
      const [, status, number] = /"status":"(\w+)".*"id":(\d+)/.exec(text) ?? []
      const index = Number(number) * steps.length + steps.indexOf(status as MessageStatus)
      seen[index] = (seen[index] as number) + 1
    }
    if (last && page.records.length === 0) return { seen, pages: count }
    if (page.records.length < 1_000) await new Promise((resolve) => setTimeout(resolve, restMs))
  }
}
