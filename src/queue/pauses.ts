// Paused lanes. Pauses are stored, so that a restart or a new owner does not end them.

import { clock } from '../runtime/clock.ts'
import type { Database } from '../store/database.ts'
import { op, statement } from '../store/statement.ts'
import { laneTopic } from './wake-topics.ts'

const insertPause = statement({
  name: 'pause_lane',
  rank: 47,
  columns: { lane: 'text', at: 'bigint', reason: 'text' },
  text: (rows) => `
    insert into pauses (lane, at, reason) select r.lane, r.at, r.reason from ${rows} r where true
    on conflict (lane) do nothing`,
})

const deletePause = statement({
  name: 'resume_lane',
  rank: 47,
  columns: { lane: 'text' },
  text: (rows) => `delete from pauses where lane in (select r.lane from ${rows} r)`,
})

const selectPause = statement<{ reason: string }>({
  name: 'select_pause',
  rank: 47,
  columns: { lane: 'text' },
  text: (rows) => `select p.reason from ${rows} r join pauses p on p.lane = r.lane`,
})

export async function pauseLane(database: Database, lane: string, reason: string): Promise<void> {
  await database.commit([op(insertPause, [[lane, clock.now(), reason]])])
}

/** Ends a pause, whichever process owns the lane. */
export async function resumeLane(database: Database, lane: string): Promise<void> {
  await database.commit([op(deletePause, [[lane]]), database.wake(laneTopic(lane))])
}

/** @returns why the lane is paused; undefined: it is not */
export async function findPause(database: Database, lane: string): Promise<string | undefined> {
  return (await database.read(op(selectPause, [[lane]])))[0]?.reason
}
