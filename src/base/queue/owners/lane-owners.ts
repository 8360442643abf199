// The tables of ownership. A process is known by the owner id of its session (Database.owner), and is alive as long as that session.
//
// lane_processes  the processes that serve lanes, with the lanes that they can serve
// lane_owners     the owner of each lane that has one
//
// Rows instead of an advisory lock for each lane: PostgreSQL's table of locks has room for 6,400 by default, and each query of pg_locks
// reads all of them. A row protects as well as a lock: only the owner deletes it, or another process after the owner's session has ended,
// and the owner settles in that session.

import type { Database, Migration, Op } from '../../store/database.ts'
import { op, rows, statement } from '../../store/statement.ts'
import { type BrandMove, freezingMoves, isFrozen } from './brand-moves.ts'
import type { LaneProcess } from './divide-lanes.ts'

export const laneOwnerMigration: Migration = {
  name: 'queue/owners',
  statements: ({ key }) => [
    `create table lane_processes (owner ${key} primary key, version bigint not null, lanes text not null)`,
    `create table lane_owners (lane ${key} primary key, owner ${key} not null)`,
  ],
}

const deleteProcesses = statement('forget_lane_processes', { owner: 'text' })`
  delete from lane_processes where owner in (select r.owner from ${rows} r)`

const deleteOwners = statement('forget_lane_owners', { owner: 'text' })`
  delete from lane_owners where owner in (select r.owner from ${rows} r)`

const upsertProcess = statement('register_lanes', { owner: 'text', version: 'bigint', lanes: 'text' })`
  insert into lane_processes (owner, version, lanes) select r.owner, r.version, r.lanes from ${rows} r where true
  on conflict (owner) do update set version = excluded.version, lanes = excluded.lanes`

const insertProcess = statement('register_process', { owner: 'text' })`
  insert into lane_processes (owner, version, lanes) select r.owner, 0, '[]' from ${rows} r where true
  on conflict (owner) do nothing`

const deleteOwner = statement('release_lanes', { lane: 'text', owner: 'text' })`
  delete from lane_owners where (lane, owner) in (select r.lane, r.owner from ${rows} r)`

const insertOwner = statement<{ lane: string }>('own_lanes', { lane: 'text', owner: 'text' }, { route: 'lane' })`
  insert into lane_owners (lane, owner) select r.lane, r.owner from ${rows} r where not ${isFrozen('r.lane')} order by r.lane
  on conflict (lane) do nothing returning lane`

const selectHeld = statement<{ lane: string }>('held_lanes', { lane: 'text', owner: 'text' }, { route: 'lane' })`
  select r.lane from ${rows} r join lane_owners o on o.lane = r.lane and o.owner = r.owner`

// One statement reads both, because each process repeats it twice a second.
const selectVersions = statement<{ owner: string | null; version: number } & FrozenBrand>('lane_processes', {})`
  select p.owner, p.version, null as brand, null as state, null as other from lane_processes p
  union all select null, 0, m.brand, m.state, m.other from ${freezingMoves} m`

const selectLanes = statement<{ owner: string; version: number; lanes: string }>('served_lanes', { owner: 'text' })`
  select p.owner, p.version, p.lanes from ${rows} r join lane_processes p on p.owner = r.owner`

/** Stores the lanes that this process can serve. A greater version marks another list. */
export const registerOp = (owner: string, version: number, lanes: readonly string[]): Op =>
  op(upsertProcess, [[owner, version, JSON.stringify(lanes)]])

/** Registers a process that may serve no lane. Its lanes are released after its end, like the lanes of every registered process. */
export const registerOnceOp = (owner: string): Op => op(insertProcess, [[owner]])

/** Acquires those of the lanes that have no owner. */
export const ownLanesOp = (owner: string, lanes: readonly string[]): Op<{ lane: string }> =>
  op(insertOwner, lanes, (lane) => [lane, owner])

/** Selects the lanes that this process owns. */
export const heldLanesOp = (owner: string, lanes: readonly string[]): Op<{ lane: string }> =>
  op(selectHeld, lanes, (lane) => [lane, owner])

/** Releases these lanes. */
export const releaseLanesOp = (owner: string, lanes: readonly string[]): Op =>
  op(deleteOwner, lanes, (lane) => [lane, owner])

/** Deletes processes that have ended, and releases their lanes. */
export function forgetProcessOps(owners: readonly string[]): Op[] {
  const rows = owners.map((owner) => [owner])
  return [op(deleteProcesses, rows), op(deleteOwners, rows)]
}

export interface RegisteredProcess extends LaneProcess {
  readonly version: number
}

type FrozenBrand = Pick<BrandMove, 'brand' | 'state' | 'other'>

export interface LaneProcesses {
  /** The brands whose lanes no process of this store may own. */
  readonly frozen: readonly FrozenBrand[]
  readonly living: readonly RegisteredProcess[]
  /** The owners whose session has ended. */
  readonly ended: readonly string[]
}

/** Creates a function that reads the processes. A list of lanes is read once, so that the cost of a repetition does not depend on their number. */
export function createProcessReader(database: Database): (owner: string) => Promise<LaneProcesses> {
  let known = new Map<string, RegisteredProcess>()
  const readLanes = (owners: readonly string[]) => database.read(op(selectLanes, owners, (each) => [each]))
  return async (owner) => {
    // Ahead of the commits: while thousands of lanes work, a read waits for seconds.
    const [rows] = await database.commit([op(selectVersions, [[]])], { durable: false, urgent: true })
    const found = rows.flatMap((row) => (row.owner === null ? [] : [{ owner: row.owner, version: row.version }]))
    const others = found.filter((each) => each.owner !== owner).map((each) => each.owner)
    const alive = others.length > 0 ? await database.alive(others) : new Set<string>()
    const living = found.filter((each) => each.owner === owner || alive.has(each.owner))
    const changed = living.filter((each) => known.get(each.owner)?.version !== each.version)
    const read = changed.length > 0 ? await readLanes(changed.map((each) => each.owner)) : []
    for (const each of read) known.set(each.owner, { ...each, lanes: JSON.parse(each.lanes) as string[] })
    known = new Map([...known].filter(([id]) => living.some((each) => each.owner === id)))
    const frozen = rows.filter((row) => row.owner === null)
    return { frozen, living: [...known.values()], ended: others.filter((id) => !alive.has(id)) }
  }
}

const selectOwners = statement<{ lane: string; owner: string }>('owners_of_brand', { brand: 'text' })`
  select o.lane, o.owner from ${rows} r join lane_owners o on o.lane >= r.brand || '/' and o.lane < r.brand || '0'`

/** The lanes of this brand that a living process owns. A process settles its running calls before it releases a lane. */
export async function readOwnedLanes(database: Database, brand: string): Promise<readonly string[]> {
  const owned = await database.read(op(selectOwners, [[brand]]))
  const alive = await database.alive([...new Set(owned.map(({ owner }) => owner))])
  return owned.filter(({ owner }) => alive.has(owner)).map(({ lane }) => lane)
}

/** SQL for PostgreSQL: waits until no transaction is acquiring a lane, and lets none begin until the end of this transaction. */
export const lockOwners = 'lock table lane_owners in share row exclusive mode'
