// Moves a brand from one store to another while the processes of the platform serve all other brands.
//
// 1. The source stores the move. The owners drain the brand's lanes and release them. A trigger refuses new attempts to send, and
//    the attempts under way are settled.
// 2. Triggers in the source refuse changes of the brand's rows: records and device links are answered 503.
// 3. One transaction of the target receives all rows and the id of the move, from one snapshot of the source.
// 4. The source records that the brand has moved. The triggers stay, for processes that still have the old settings.
// 5. The rows in the source are deleted.
//
// The commit of step 3 decides. A command that was killed before it has changed nothing but the freeze, and one that was killed
// after it has moved everything: repeated, it does the rest.

import { type BrandMove, moveValues, readMoves, saveMove } from '../../../base/queue/owners/brand-moves.ts'
import { clock } from '../../../base/runtime/clock.ts'
import { uuidv7 } from '../../../base/runtime/ids.ts'
import { messageOf } from '../../../base/runtime/message-of.ts'
import type { Op } from '../../../base/store/database.ts'
import { inTransaction } from '../../../base/store/postgres-client.ts'
import { copyPartitions } from '../../../base/store/postgres-partitions.ts'
import { copyBrand, countRows, type RowCount, reserveNumbers } from './copy-brand.ts'
import { deleteBrand } from './delete-brand.ts'
import { awaitAttempts, endFreeze, freezeRows, takeLanes, wakeOwners } from './freeze.ts'
import { MoveRefused } from './move-refused.ts'
import { createMoveStores, type MoveOptions, type MoveStore, type MoveStores } from './move-stores.ts'
import { planMove } from './plan-move.ts'

/** draining: calls and attempts end. deleting: the brand has moved, and its rows in the source are deleted. */
export type MovePhase = 'draining' | 'freezing' | `copying ${string}` | 'deleting'

export interface BrandMover {
  /** The number of the store that the brand leaves. */
  readonly source: number
  /** finish: an earlier command has copied all rows. */
  readonly step: 'move' | 'finish'
  /** Counts the brand's rows in the source. */
  count(): Promise<readonly RowCount[]>
  /**
   * Moves the brand. If it fails before the commit, the brand stays in the source.
   *
   * @param signal ends the move before its next table
   * @returns the number of rows that were deleted in the source
   */
  move(onPhase: (phase: MovePhase) => void, signal: AbortSignal): Promise<number>
  /** Commits operations in the target. */
  record(ops: readonly Op[]): Promise<void>
  close(): Promise<void>
}

/**
 * Opens both stores of a move. Only one move of a store runs at a time.
 *
 * @param to the number of the target
 * @throws MoveRefused if the brand cannot be moved
 * @example
 * const mover = await openBrandMover(options, '12', 2)
 * await mover.move(console.error, signal)
 * await mover.close()
 */
export async function openBrandMover(options: MoveOptions, brand: string, to: number): Promise<BrandMover> {
  const stores = createMoveStores(options)
  try {
    const target = await stores.open(to)
    const known = await readMove(target, brand)
    const home = stores.homeOf(brand)
    const moves = new Map(known ? [[to, known]] : [])
    for (const number of home !== to ? [home] : known?.state === 'received' ? [known.other] : []) {
      const move = await readMove(await stores.open(number), brand)
      if (move) moves.set(number, move)
    }
    const plan = planMove({ brand, to, home, moves })
    if ('refused' in plan) throw new MoveRefused(plan.refused)
    const source = await stores.open(plan.source)
    const parts = { brand, stores, source, target }
    return {
      source: plan.source,
      step: plan.step,
      count: () => countRows(source.client, stores.tables, brand),
      async move(onPhase, signal) {
        const ended = AbortSignal.any([signal, source.lost, target.lost])
        const move = plan.step === 'finish' ? moves.get(plan.source) : await copy(parts, onPhase, ended)
        await saveState(source, { ...(move as BrandMove), state: 'moved' })
        await wakeOwners(source.database)
        onPhase('deleting')
        // The brand had left the target earlier: its triggers name the brand.
        if (known?.state === 'moved') await freezeRows(target, stores.tables)
        return deleteBrand(source.client, stores.tables, brand)
      },
      async record(ops) {
        await target.database.commit(ops)
      },
      close: stores.close,
    }
  } catch (error) {
    await stores.close()
    throw error
  }
}

/**
 * Ends a move that was interrupted before its commit: the brand stays in its store. The target may be away.
 *
 * @param ops committed in this store, such as the entry of the audit trail
 */
export async function abortMove(options: MoveOptions, brand: string, ops: readonly Op[]): Promise<void> {
  const stores = createMoveStores(options)
  try {
    const source = await stores.open(stores.homeOf(brand))
    const left = await readMove(source, brand)
    if (left?.state !== 'moving' && left?.state !== 'committing')
      throw new MoveRefused(`brand ${brand} is not being moved from store ${source.number}`)
    const received = left.state === 'committing' ? await readMove(await stores.open(left.other), brand) : undefined
    if (received?.move === left.move)
      throw new MoveRefused(`brand ${brand} is in store ${left.other} already: repeat the command without --abort`)
    await endFreeze(source, stores.tables, brand)
    await source.database.commit(ops)
  } finally {
    await stores.close()
  }
}

interface MoveParts {
  readonly brand: string
  readonly stores: MoveStores
  readonly source: MoveStore
  readonly target: MoveStore
}

/** Steps 1 to 3. If it fails before the commit, the brand is served in the source again. */
async function copy(parts: MoveParts, onPhase: (phase: MovePhase) => void, signal: AbortSignal): Promise<BrandMove> {
  const { brand, stores, source, target } = parts
  const { tables, partitioned } = stores
  await demandNoRows(parts)
  const move: BrandMove = { brand, move: uuidv7(), state: 'moving', other: target.number, at: clock.now() }
  let committing = false
  try {
    onPhase('draining')
    await takeLanes(source, move, signal)
    await awaitAttempts(source, stores, { brand, signal })
    onPhase('freezing')
    await freezeRows(source, tables)
    await copyPartitions(source.client, target.client, partitioned)
    await source.client.query('begin isolation level repeatable read, read only')
    const shifts = await reserveNumbers(source.client, target.client, tables, brand)
    await inTransaction(target.client, async () => {
      const onTable = (table: string): void => {
        signal.throwIfAborted()
        onPhase(`copying ${table}`)
      }
      await copyBrand(source.client, target.client, { tables, brand, shifts, onTable })
      await saveState(target, { ...move, state: 'received', other: source.number })
      await source.client.query('commit')
      await saveState(source, { ...move, state: 'committing' })
      signal.throwIfAborted()
      committing = true
    })
    return move
  } catch (error) {
    if (committing)
      throw new Error(`it is unknown whether brand ${brand} has moved: repeat the command (${messageOf(error)})`, {
        cause: error,
      })
    await source.client.query('rollback').catch(() => {})
    await endFreeze(source, tables, brand).catch((cause: unknown) => {
      const remedy = 'repeat the command, or give --abort to leave the brand there'
      throw new Error(
        `nothing was moved, but brand ${brand} is not served in store ${source.number}: ${remedy} (${messageOf(error)})`,
        { cause },
      )
    })
    throw error
  }
}

/** Deletes the rows that an earlier move out of the target has left. Other rows would be mixed with those of the source. */
async function demandNoRows({ brand, stores: { tables }, target }: MoveParts): Promise<void> {
  if ((await readMove(target, brand))?.state === 'moved') await deleteBrand(target.client, tables, brand)
  const found = (await countRows(target.client, tables, brand)).find(({ rows }) => rows > 0)
  if (found)
    throw new MoveRefused(
      `store ${target.number} has rows of brand ${brand} already, ${found.rows} of them in the table ${found.table}: delete them if they are not needed`,
    )
}

const readMove = async ({ database }: MoveStore, brand: string): Promise<BrandMove | undefined> =>
  (await readMoves(database)).find((each) => each.brand === brand)

async function saveState({ client }: MoveStore, move: BrandMove): Promise<void> {
  await client.query(saveMove, [...moveValues(move)])
}
