// Ownership on PostgreSQL: advisory locks of the session that commits. Advisory locks are shared by the whole database, so the
// hashed name includes the schema.

import { statement } from './statement.ts'

const lockKey = (kind: 'owner' | 'own', name: string): string =>
  `hashtextextended('bellwire ' || current_schema() || ' ${kind} ' || ${name}, 0)`

// pg_locks shows the key in two halves.
const isLockOf = (kind: 'owner' | 'own', name: string): string => `
  l.locktype = 'advisory' and l.objsubid = 1 and l.granted
  and l.database = (select d.oid from pg_database d where d.datname = current_database())
  and ((l.classid::bigint << 32) | l.objid::bigint) = ${lockKey(kind, name)}`

export const holdOwner = statement<{ backend: number }>({
  name: 'hold_owner',
  columns: { owner: 'text' },
  text: (rows) =>
    `select pg_backend_pid() as backend from ${rows} r where pg_try_advisory_lock(${lockKey('owner', 'r.owner')})`,
})

/** Returns the owners whose lock this connection holds. */
export const stillHeld = statement<{ owner: string }>({
  name: 'still_held',
  columns: { owner: 'text' },
  text: (rows) =>
    `select r.owner from ${rows} r join pg_locks l on ${isLockOf('owner', 'r.owner')} where l.pid = pg_backend_pid()`,
})

/** Returns the owners that have a session. */
export const aliveOwners = statement<{ owner: string }>({
  name: 'alive_owners',
  columns: { owner: 'text' },
  text: (rows) => `select distinct r.owner from ${rows} r join pg_locks l on ${isLockOf('owner', 'r.owner')}`,
})

export const takeOwnership = statement<{ name: string }>({
  name: 'take_ownership',
  columns: { name: 'text' },
  text: (rows) => `select r.name from ${rows} r where pg_try_advisory_lock(${lockKey('own', 'r.name')})`,
})

export const releaseOwnership = statement<{ name: string }>({
  name: 'release_ownership',
  columns: { name: 'text' },
  text: (rows) => `select r.name from ${rows} r where pg_advisory_unlock(${lockKey('own', 'r.name')})`,
})

const evictStalled = (kind: 'owner' | 'own') =>
  statement<{ evicted: number }>({
    name: `evict_stalled_${kind}`,
    columns: { name: 'text', lease_ms: 'bigint' },
    text: (rows) => `
      select pg_terminate_backend(a.pid) as evicted
      from ${rows} r join pg_locks l on ${isLockOf(kind, 'r.name')} join pg_stat_activity a on a.pid = l.pid
      where a.state = 'active' and a.wait_event_type = 'Client'
        and a.query_start < clock_timestamp() - r.lease_ms * interval '1 millisecond'`,
  })

/**
 * Ends the session of the lock's holder if it stopped within a request, so that the server has waited for the rest for longer
 * than the lease: idle_session_timeout does not count that time.
 */
export const evictStalledHolder = evictStalled('own')
/** The same for owners. */
export const evictStalledOwner = evictStalled('owner')
