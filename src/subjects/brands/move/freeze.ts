// Freezes a brand in the store that it leaves: its lanes have no owner, and its rows do not change.

import type pg from 'pg'
import {
  type BrandMove,
  deleteMove,
  freezeClaims,
  freezeTable,
  moveValues,
  readMoves,
  saveMove,
} from '../../../base/queue/owners/brand-moves.ts'
import { lockOwners, readOwnedLanes } from '../../../base/queue/owners/lane-owners.ts'
import { divisionTopic } from '../../../base/queue/wake-topics.ts'
import { clock } from '../../../base/runtime/clock.ts'
import { sleep } from '../../../base/runtime/sleep.ts'
import type { BrandTable } from '../../../base/store/brand-table.ts'
import type { Database } from '../../../base/store/database.ts'
import { inTransaction } from '../../../base/store/postgres-client.ts'
import { fromRows } from './brand-rows.ts'
import type { MoveStore } from './move-stores.ts'

const pollMs = 100

/** Stores the move, and waits until no process owns a lane of the brand: then all of its calls are settled. */
export async function takeLanes({ client, database }: MoveStore, move: BrandMove, signal: AbortSignal): Promise<void> {
  await inTransaction(client, async () => {
    await client.query(lockOwners)
    await client.query(saveMove, [...moveValues(move)])
  })
  await wakeOwners(database)
  while ((await readOwnedLanes(database, move.brand)).length > 0) {
    signal.throwIfAborted()
    await sleep(pollMs)
  }
}

/**
 * Refuses new attempts to send messages of frozen brands, and waits until the attempts under way are settled. An attempt that is
 * older than `attemptMs`, or whose process has ended, is not settled any more: the next one counts as uncertain.
 */
export async function awaitAttempts(
  store: MoveStore,
  { tables, attemptMs }: { readonly tables: readonly BrandTable[]; readonly attemptMs: number },
  { brand, signal }: { readonly brand: string; readonly signal: AbortSignal },
): Promise<void> {
  await createTriggers(store, tables, freezeClaims)
  for (const each of tables) {
    const { inFlight } = each
    if (!inFlight) continue
    for (;;) {
      signal.throwIfAborted()
      const startedAt = clock.monotonic()
      const { rows } = await store.client.query<{ owner: string }>(
        `select distinct t.owner ${fromRows(tables, each, brand)} and ${inFlight('t')} and t.updated_at > $1`,
        [clock.now() - attemptMs],
      )
      const living = await store.database.alive(rows.map(({ owner }) => owner))
      if (living.size === 0) break
      // The search may read all messages of the brand.
      await sleep(Math.max(pollMs, clock.monotonic() - startedAt))
    }
  }
}

/** Ends a move that copied nothing: the brand stays in this store. */
export async function endFreeze(store: MoveStore, tables: readonly BrandTable[], brand: string): Promise<void> {
  await store.client.query(deleteMove, [brand])
  await wakeOwners(store.database)
  await freezeRows(store, tables)
}

/** A transaction that changes a table for longer than this makes the others wait for this time, not for its own. */
const lockTimeoutMs = 3_000
const lockAttempts = 20

/** Refuses changes of the rows of all frozen brands, and waits for the changes that are under way. */
export const freezeRows = (store: MoveStore, tables: readonly BrandTable[]): Promise<void> =>
  createTriggers(store, tables, freezeTable)

async function createTriggers(
  { client, database }: MoveStore,
  tables: readonly BrandTable[],
  triggersOf: typeof freezeTable,
): Promise<void> {
  const frozen = (await readMoves(database)).filter(({ state }) => state !== 'received').map(({ brand }) => brand)
  // Each table in a transaction of its own: the processes lock several tables, in their own order.
  for (const statement of tables.flatMap((table) => triggersOf(table, frozen)))
    await withLockTimeout(client, () => client.query(statement))
}

/** Runs a statement that locks a table or a sequence, and repeats it while others hold the lock. */
export async function withLockTimeout<Result>(client: pg.Client, run: () => Promise<Result>): Promise<Result> {
  await client.query(`set lock_timeout = ${lockTimeoutMs}`)
  try {
    for (let attempt = 1; ; attempt++) {
      try {
        return await run()
      } catch (error) {
        if ((error as { code?: string }).code !== '55P03' || attempt === lockAttempts) throw error
        await sleep(lockTimeoutMs)
      }
    }
  } finally {
    await client.query('set lock_timeout = 0').catch(() => {})
  }
}

/** Makes the processes read the moves at once. */
export async function wakeOwners(database: Database): Promise<void> {
  await database.commit([database.wake(divisionTopic)])
}
