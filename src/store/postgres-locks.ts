// Ownership on PostgreSQL: advisory locks of the session that commits. They are counted for the whole database, so the
// name that is hashed says which schema it belongs to.

import { statement } from './statement.ts'

const number = (kind: 'owner' | 'own', name: string): string =>
  `hashtextextended('bellwire ' || current_schema() || ' ${kind} ' || ${name}, 0)`

// pg_locks shows the two halves of the number.
const lockOf = (kind: 'owner' | 'own', name: string): string => `
  l.locktype = 'advisory' and l.objsubid = 1 and l.granted
  and l.database = (select d.oid from pg_database d where d.datname = current_database())
  and ((l.classid::bigint << 32) | l.objid::bigint) = ${number(kind, name)}`

export const holdOwner = statement<{ backend: number }>({
  name: 'hold_owner',
  rank: 0,
  columns: { owner: 'text' },
  text: (rows) =>
    `select pg_backend_pid() as backend from ${rows} r where pg_try_advisory_lock(${number('owner', 'r.owner')})`,
})

/** By this very connection. */
export const stillHeld = statement<{ owner: string }>({
  name: 'still_held',
  rank: 0,
  columns: { owner: 'text' },
  text: (rows) =>
    `select r.owner from ${rows} r join pg_locks l on ${lockOf('owner', 'r.owner')} where l.pid = pg_backend_pid()`,
})

/** Which of these owners have a session. */
export const aliveOwners = statement<{ owner: string }>({
  name: 'alive_owners',
  rank: 0,
  columns: { owner: 'text' },
  text: (rows) => `select distinct r.owner from ${rows} r join pg_locks l on ${lockOf('owner', 'r.owner')}`,
})

export const takeOwnership = statement<{ name: string }>({
  name: 'take_ownership',
  rank: 0,
  columns: { name: 'text' },
  text: (rows) => `select r.name from ${rows} r where pg_try_advisory_lock(${number('own', 'r.name')})`,
})

export const releaseOwnership = statement<{ name: string }>({
  name: 'release_ownership',
  rank: 0,
  columns: { name: 'text' },
  text: (rows) => `select r.name from ${rows} r where pg_advisory_unlock(${number('own', 'r.name')})`,
})

/**
 * Ends the holder's session if it stopped in the middle of a transaction, the server waiting for the rest of it for longer
 * than the lease: idle_session_timeout does not count that time.
 */
export const evictStalled = statement<{ evicted: number }>({
  name: 'evict_stalled',
  rank: 0,
  columns: { name: 'text', lease_ms: 'bigint' },
  text: (rows) => `
    select pg_terminate_backend(a.pid) as evicted
    from ${rows} r join pg_locks l on ${lockOf('own', 'r.name')} join pg_stat_activity a on a.pid = l.pid
    where a.state = 'active' and a.wait_event_type = 'Client'
      and a.query_start < clock_timestamp() - r.lease_ms * interval '1 millisecond'`,
})
