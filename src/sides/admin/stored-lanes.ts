// The table `stored_lanes`: lanes that were added by a call, each with the settings of `platform.lanes[]`.

import { isDeepStrictEqual } from 'node:util'
import { clock } from '../../base/runtime/clock.ts'
import { emit } from '../../base/runtime/events.ts'
import { createLoop } from '../../base/runtime/loop.ts'
import { messageOf } from '../../base/runtime/message-of.ts'
import type { Database, Migration, Op } from '../../base/store/database.ts'
import { op, statement } from '../../base/store/statement.ts'

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

const insertLane = statement<{ lane: string }>({
  name: 'insert_stored_lane',
  columns: changed,
  text: (rows) => `
    insert into stored_lanes (lane, settings, changed_by, changed_at)
    select r.lane, r.settings, r.changed_by, r.changed_at from ${rows} r where true
    on conflict (lane) do nothing returning lane`,
})

const updateLane = statement<{ lane: string }>({
  name: 'update_stored_lane',
  columns: changed,
  text: (rows) => `
    update stored_lanes set settings = r.settings, changed_by = r.changed_by, changed_at = r.changed_at
    from ${rows} r where stored_lanes.lane = r.lane returning stored_lanes.lane`,
})

const deleteLane = statement<{ lane: string }>({
  name: 'delete_stored_lane',
  columns: { lane: 'text' },
  text: (rows) => `delete from stored_lanes where lane in (select r.lane from ${rows} r) returning lane`,
})

const listLanes = statement<StoredLane>({
  name: 'list_stored_lanes',
  columns: {},
  text: () => 'select l.lane, l.settings from stored_lanes l order by l.lane',
})

export interface StoredLane {
  /** '7/push' */
  readonly lane: string
  /** JSON: the settings of platform.lanes[]. */
  readonly settings: string
}

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
  /** Replaces the side by one that reads the lanes again. Resolves when the replacement has begun. */
  replace(): Promise<void>
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
  /** @param also committed with it @returns false: the store has this lane already */
  add(lane: StoredLane, by: string, also: readonly Op[]): Promise<boolean>
  /** @returns false: the store has no such lane. So does remove() */
  change(lane: StoredLane, by: string, also: readonly Op[]): Promise<boolean>
  remove(lane: string, also: readonly Op[]): Promise<boolean>
  /** Applies the lanes of the store in this process. The others apply them by themselves. */
  apply(): Promise<void>
}

/**
 * Opens the lanes of the store, and watches them.
 *
 * @returns with the lanes that the side has to serve
 * @throws ConfigError: the lanes contradict the configuration
 */
export async function openStoredLanes<Options>(
  database: Database,
  reader: StoredLaneReader<Options>,
): Promise<{ readonly stored: StoredLanes; readonly lanes: readonly Options[]; stop(): Promise<void> }> {
  const list = () => database.read(op(listLanes, [[]]))
  const read = (rows: readonly StoredLane[]) => reader.read(rows.map(({ settings }) => settings))
  // A store that is away now is read by the loop.
  let applied = await list().catch((error: unknown) => {
    if ((error as { readonly code?: unknown }).code === 'unavailable') return []
    throw error
  })
  const lanes = (await read(applied)).map(({ options }) => options)
  const loop = createLoop({
    name: 'lanes of the store',
    async turn() {
      // The replacement is not awaited, because it waits for this turn.
      void (await findChange())?.()
      return rereadMs
    },
  })
  const unsubscribe = database.onWake(topic, loop.wake)
  loop.start()

  /** @returns a function that applies the lanes, if they have changed */
  async function findChange(): Promise<(() => Promise<void>) | undefined> {
    const rows = await list()
    if (isDeepStrictEqual(rows, applied)) return undefined
    // A change that this process refuses is reported once.
    applied = rows
    return () =>
      read(rows)
        .then(() => reader.replace())
        .catch((error: unknown) => emit('server.reload_refused', { side: 'platform', error: messageOf(error) }))
  }

  const rowOf = ({ lane, settings }: StoredLane, by: string) => [[lane, settings, by, clock.now()]]

  return {
    lanes,
    stored: {
      known: () => applied,
      list,
      check: (settings) => reader.read(settings),
      async add(lane, by, also) {
        const [inserted] = await database.commit([op(insertLane, rowOf(lane, by)), database.wake(topic), ...also])
        return inserted.length > 0
      },
      async change(lane, by, also) {
        const [updated] = await database.commit([op(updateLane, rowOf(lane, by)), database.wake(topic), ...also])
        return updated.length > 0
      },
      async remove(lane, also) {
        const [deleted] = await database.commit([op(deleteLane, [[lane]]), database.wake(topic), ...also])
        return deleted.length > 0
      },
      async apply() {
        await (await findChange())?.()
      },
    },
    async stop() {
      unsubscribe()
      await loop.stop()
    },
  }
}
