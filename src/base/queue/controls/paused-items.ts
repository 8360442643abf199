// Items that a pause of their activity or action holds back. The owner of the lane moves each of them to a `due_at` later than any
// time, one for each pause, so the rest of the lane is read as if they did not exist. When the pause ends, it moves them back.

import type { Database } from '../../store/database.ts'
import { op, rows, statement } from '../../store/statement.ts'
import { readMessageParts } from '../item-keys.ts'
import { pausedFrom } from '../tables.ts'
import type { Control } from './controls.ts'

/** The `due_at` of the items that a pause holds back. */
export const pausedDueAt = ({ id }: Pick<Control, 'id'>): number => pausedFrom + id

/** Whether the pause holds back single items, and not all of its scope. */
export const pausesItems = ({ kind }: Pick<Control, 'kind'>): boolean => kind === 'activity' || kind === 'action'

/**
 * Returns a function that finds the pause of an item by the item's key. Undefined: no control holds back single items, so that
 * no key need be parsed.
 */
export function findItemPause(controls: readonly Control[]): ((key: string) => Control | undefined) | undefined {
  const pauses = controls.filter(pausesItems)
  if (pauses.length === 0) return undefined
  const byId = (kind: Control['kind']) =>
    new Map(pauses.filter((pause) => pause.kind === kind).map((pause) => [pause.name as string | null, pause]))
  const activities = byId('activity')
  const actions = byId('action')
  return (key) => {
    const parts = readMessageParts(key)
    return parts && (activities.get(parts.activityId) ?? actions.get(parts.actionId))
  }
}

const selectCounts = statement<{ lane: string; name: string; items: number }>({
  name: 'count_paused',
  columns: { lane: 'text' },
  route: 'lane',
  text: (rows) => `
    select c.scope as lane, c.name, sum(c.n) as items from ${rows} r join lane_counts c on c.scope = r.lane
    where c.name >= 'paused ' and c.name < 'paused!' group by c.scope, c.name`,
})

/** A number of items that are held back. It is 0 if all of them were moved back. */
export interface PausedCount {
  readonly dueAt: number
  readonly items: number
}

export async function countPaused(read: Database['read'], lane: string): Promise<readonly PausedCount[]> {
  const rows = await read(op(selectCounts, [[lane]]))
  return rows.map(({ name, items }) => ({ dueAt: Number(name.slice('paused '.length)), items }))
}

// 1: due at once, like a replayed item. The items are then read in the order of their numbers.
const releaseRows = statement<{ seq: number }>({
  name: 'release_paused',
  columns: { lane: 'text', due_at: 'bigint', max_rows: 'bigint' },
  text: (rows) => `
    update waiting set due_at = 1
    where lane = (select r.lane from ${rows} r) and due_at = (select r.due_at from ${rows} r)
      and seq <= (select max(n.seq) from (
        select w.seq from waiting w
        where w.lane = (select r.lane from ${rows} r) and w.due_at = (select r.due_at from ${rows} r)
        order by w.seq limit (select r.max_rows from ${rows} r)) n)
    returning seq`,
})

const deleteCount = statement('forget_paused_count', { lane: 'text', name: 'text', due_at: 'bigint' })`
  delete from lane_counts where (scope, name) in (
    select r.lane, r.name from ${rows} r
    where not exists (select 1 from waiting w where w.lane = r.lane and w.due_at = r.due_at))`

const stepRows = 2_000

/** Moves a bounded number of items back, those with the lowest numbers first. @returns whether there may be more */
async function releaseItems(database: Database, lane: string, dueAt: number): Promise<boolean> {
  const [released] = await database.commit([op(releaseRows, [[lane, dueAt, stepRows]])], { durable: false })
  if (released.length > 0) return true
  await database.commit([op(deleteCount, [[lane, `paused ${dueAt}`, dueAt]])], { durable: false })
  return false
}

/** The items of a lane that pauses hold back, for the owner of the lane. */
export interface PausedItems {
  /** Finds, at the next step, the items whose pause has ended. */
  checkEnded(): void
  /** Moves some of these items back. @returns whether there may be more */
  releaseStep(): Promise<boolean>
}

export interface PausedItemsOptions {
  readonly database: Database
  readonly lane: string
  /** The pauses of activities and actions that are in effect. */
  readonly pauses: () => readonly Control[]
}

export function createPausedItems({ database, lane, pauses }: PausedItemsOptions): PausedItems {
  let unchecked = false
  let ended: number[] = []
  return {
    checkEnded() {
      unchecked = true
    },
    async releaseStep() {
      if (unchecked) {
        unchecked = false
        ended = (await countPaused(database.read, lane)).map(({ dueAt }) => dueAt)
      }
      // A pause that was set again meanwhile keeps its items.
      const held = new Set(pauses().map(pausedDueAt))
      ended = ended.filter((dueAt) => !held.has(dueAt))
      const [first] = ended
      if (first === undefined) return false
      if (!(await releaseItems(database, lane, first))) ended.shift()
      return true
    },
  }
}
