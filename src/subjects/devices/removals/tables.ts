// The only owner of the tables of the removal brake. Their keys have no brand, because several brands may share a credential.
//
// removal_brakes   one row for each push service whose removals were ever stopped
// removal_tallies  the sends and removals of each process in each of the last minutes; each process reads the counts of all

import type { Migration } from '../../../base/store/database.ts'
import { rows, statement } from '../../../base/store/statement.ts'

export const removalMigrations: readonly Migration[] = [
  {
    name: 'removal_brake/1',
    statements: ({ key }) => [
      `create table removal_brakes (
         service ${key} primary key, stopped_at bigint not null, removals bigint not null, sends bigint not null,
         allowed_until bigint not null, confirmed_at bigint not null, confirmed_by text not null)`,
      `create table removal_tallies (
         service ${key} not null, process ${key} not null, minute bigint not null, sends bigint not null, removals bigint not null,
         primary key (service, process, minute))`,
    ],
  },
]

export interface BrakeRow {
  readonly service: string
  /** 0: not stopped. */
  readonly stopped_at: number
  readonly removals: number
  readonly sends: number
  /** A person has confirmed: until this time, removals are not counted. 0: never confirmed. */
  readonly allowed_until: number
  readonly confirmed_at: number
  readonly confirmed_by: string
}

/** The first stop is kept. A stop that is older than a person's confirmation has no effect. */
export const stopRemovals = statement({
  name: 'stop_removals',
  columns: { service: 'text', at: 'bigint', removals: 'bigint', sends: 'bigint' },
  text: (rows) => `
    insert into removal_brakes (service, stopped_at, removals, sends, allowed_until, confirmed_at, confirmed_by)
    select r.service, r.at, r.removals, r.sends, 0, 0, '' from ${rows} r where true
    on conflict (service) do update set stopped_at = excluded.stopped_at, removals = excluded.removals, sends = excluded.sends
    where removal_brakes.stopped_at = 0 and removal_brakes.allowed_until < excluded.stopped_at`,
})

export const confirmRemovals = statement<{ service: string }>({
  name: 'confirm_removals',
  columns: { service: 'text', at: 'bigint', until: 'bigint', by: 'text' },
  route: 'service',
  text: (rows) => `
    update removal_brakes set stopped_at = 0, allowed_until = r.until, confirmed_at = r.at, confirmed_by = r.by
    from ${rows} r where removal_brakes.service = r.service and removal_brakes.stopped_at > 0
    returning removal_brakes.service as service`,
})

export const listBrakes = statement<BrakeRow>('list_brakes', {})`
  select service, stopped_at, removals, sends, allowed_until, confirmed_at, confirmed_by
  from removal_brakes order by service`

export const upsertTallies = statement({
  name: 'upsert_tallies',
  columns: { service: 'text', process: 'text', minute: 'bigint', sends: 'bigint', removals: 'bigint' },
  text: (rows) => `
    insert into removal_tallies (service, process, minute, sends, removals)
    select r.service, r.process, r.minute, r.sends, r.removals from ${rows} r where true
    on conflict (service, process, minute) do update set sends = excluded.sends, removals = excluded.removals`,
})

export const forgetTallies = statement('forget_tallies', { before: 'bigint' })`
  delete from removal_tallies where minute < (select max(r.before) from ${rows} r)`

export interface TallyRow {
  readonly service: string
  readonly minute: number
  readonly sends: number
  readonly removals: number
}

/** The counts of the other processes. */
export const listOtherTallies = statement<TallyRow>('others_tallies', { process: 'text', since: 'bigint' })`
  select t.service, t.minute, t.sends, t.removals from ${rows} r
  join removal_tallies t on t.process <> r.process and t.minute >= r.since`
