// The table `stored_lanes`: lanes that were added by a call, each with the settings of `platform.lanes[]`.

import { isDeepStrictEqual } from 'node:util'
import { clock } from '../../base/runtime/clock.ts'
import { emit } from '../../base/runtime/events.ts'
import { createLoop } from '../../base/runtime/loop.ts'
import { messageOf } from '../../base/runtime/message-of.ts'
import { commitIfPossible } from '../../base/store/commit-if-possible.ts'
import type { Database, Migration, Op } from '../../base/store/database.ts'
import { op, rows, statement } from '../../base/store/statement.ts'

export const storedLaneMigrations: readonly Migration[] = [
  {
    name: 'stored_lanes/1',
    readableFrom: '0.1.0',
    statements: ({ key }) => [
      `create table stored_lanes (
         lane ${key} primary key, settings text not null, changed_by text not null, changed_at bigint not null)`,
    ],
  },
]

const changed = { lane: 'text', settings: 'text', changed_by: 'text', changed_at: 'bigint' } as const

/** Fails if the store has the lane. */
const insertLane = statement('insert_stored_lane', changed)`
  insert into stored_lanes (lane, settings, changed_by, changed_at)
  select r.lane, r.settings, r.changed_by, r.changed_at from ${rows} r`

/** Waits for a commit of another process that deletes the lane. The following statement sees its result. */
const lockLane = statement('lock_stored_lane', { lane: 'text' })`
  update stored_lanes set lane = r.lane from ${rows} r where stored_lanes.lane = r.lane`

/** Fails if the store does not have the lane, or if two callers change it in one commit: no lane is without settings. */
const demandLane = statement('demand_stored_lane', { lane: 'text' })`
  insert into stored_lanes (lane, settings, changed_by, changed_at)
  select r.lane, null, '', 0 from ${rows} r group by r.lane
  having count(*) > 1 or not exists (select 1 from stored_lanes l where l.lane = r.lane)`

const updateLane = statement('update_stored_lane', changed)`
  update stored_lanes set settings = r.settings, changed_by = r.changed_by, changed_at = r.changed_at
  from ${rows} r where stored_lanes.lane = r.lane`

const deleteLane = statement('delete_stored_lane', { lane: 'text' })`
  delete from stored_lanes where lane in (select r.lane from ${rows} r)`

const listLanes = statement<StoredLane>('list_stored_lanes', {})`
  select l.lane, l.settings from stored_lanes l order by l.lane`

export interface StoredLane {
  /** '7/push' */
  readonly lane: string
  /** JSON: the settings of platform.lanes[]. */
  readonly settings: string
}

export const listStoredLanes = (database: Database): Promise<readonly StoredLane[]> =>
  database.read(op(listLanes, [[]]))

/** A lane of the store, as the configuration reads it. */
export interface ReadLane<Options> {
  readonly name: string
  readonly brand: string
  /** The settings by their names, without secrets. */
  readonly shown: Readonly<Record<string, string>>
  readonly options: Options
}

/** How the configuration of the process takes lanes of the store. */
export interface StoredLaneReader<Options = unknown> {
  /** Checks the lanes together with the configuration. @throws ConfigError with all problems */
  read(settings: readonly string[]): Promise<readonly ReadLane<Options>[]>
  /** Applies the configuration again, with StoredLanes.known(). Rejects if they contradict: then nothing was changed. */
  apply(): Promise<void>
}

const topic = 'stored_lanes'
/** A wake-up may be lost. */
const rereadMs = 5_000

export interface StoredLanes {
  /** The lanes that this process read last: also without the store. */
  known(): readonly StoredLane[]
  /** The lanes of the store now. */
  list(): Promise<readonly StoredLane[]>
  /** Checks the lanes together with the configuration. @throws ConfigError with all problems */
  check(settings: readonly string[]): Promise<readonly ReadLane<unknown>[]>
  /** @param also committed with it @returns false: the store has this lane already, and nothing was committed */
  add(lane: StoredLane, by: string, also: readonly Op[]): Promise<boolean>
  /** @returns false: the store has no such lane. So does remove() */
  change(lane: StoredLane, by: string, also: readonly Op[]): Promise<boolean>
  remove(lane: string, also: readonly Op[]): Promise<boolean>
  /** Applies the lanes of the store in this process. The others apply them by themselves. */
  apply(): Promise<void>
}

/**
 * Opens the lanes of the store, and watches them from its start on.
 *
 * @returns with the lanes that the side has to serve
 * @throws ConfigError: the lanes contradict the configuration
 */
export async function openStoredLanes<Options>(
  database: Database,
  reader: StoredLaneReader<Options>,
): Promise<{ readonly stored: StoredLanes; readonly lanes: readonly Options[]; start(): void; stop(): Promise<void> }> {
  const list = () => listStoredLanes(database)
  const read = (rows: readonly StoredLane[]) => reader.read(rows.map(({ settings }) => settings))
  // A store that is away now is read by the loop.
  let applied = await list().catch((error: unknown) => {
    if ((error as { readonly code?: unknown }).code === 'unavailable') return []
    throw error
  })
  let applying: Promise<void> = Promise.resolve()
  const lanes = (await read(applied)).map(({ options }) => options)
  const loop = createLoop('lanes of the store', async () => {
    await findChange()
    return rereadMs
  })
  const unsubscribe = database.onWake(topic, loop.wake)

  /** Begins to apply the lanes, if they have changed. If the side is replaced, its stop waits for the turn of the loop. */
  async function findChange(): Promise<void> {
    const rows = await list()
    if (isDeepStrictEqual(rows, applied)) return
    // A change that this process refuses is reported once.
    applied = rows
    applying = reader.apply().catch((error: unknown) => {
      emit('server.reload_refused', { side: 'platform', error: messageOf(error) })
    })
  }

  const commit = (ops: readonly Op[], also: readonly Op[]): Promise<boolean> =>
    commitIfPossible(database, [...ops, database.wake(topic), ...also])
  const rowOf = ({ lane, settings }: StoredLane, by: string) => [[lane, settings, by, clock.now()]]

  return {
    lanes,
    stored: {
      known: () => applied,
      list,
      check: (settings) => reader.read(settings),
      add: (lane, by, also) => commit([op(insertLane, rowOf(lane, by))], also),
      change: (lane, by, also) => commit([op(updateLane, rowOf(lane, by)), op(demandLane, [[lane.lane]])], also),
      remove: (lane, also) =>
        commit(
          [lockLane, demandLane, deleteLane].map((each) => op(each, [[lane]])),
          also,
        ),
      async apply() {
        await findChange()
        await applying
      },
    },
    start: () => loop.start(),
    async stop() {
      unsubscribe()
      await loop.stop()
    },
  }
}
