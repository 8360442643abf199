// Ownership on PostgreSQL: advisory locks of the session that commits. Advisory locks are shared by the whole database, so the
// hashed name includes the schema.

import { rows, statement } from './statement.ts'

const lockKey = (kind: 'owner' | 'own', name: string): string =>
  `hashtextextended('bellwire ' || current_schema() || ' ${kind} ' || ${name}, 0)`

// pg_locks shows the key in two halves.
const isLockOf = (kind: 'owner' | 'own', name: string): string => `
  l.locktype = 'advisory' and l.objsubid = 1 and l.granted
  and l.database = (select d.oid from pg_database d where d.datname = current_database())
  and ((l.classid::bigint << 32) | l.objid::bigint) = ${lockKey(kind, name)}`

export const holdOwner = statement<{ backend: number }>('hold_owner', { owner: 'text' })`
  select pg_backend_pid() as backend from ${rows} r where pg_try_advisory_lock(${lockKey('owner', 'r.owner')})`

/** Returns the owners whose lock this connection holds. */
export const stillHeld = statement<{ owner: string }>('still_held', { owner: 'text' })`
  select r.owner from ${rows} r join pg_locks l on ${isLockOf('owner', 'r.owner')} where l.pid = pg_backend_pid()`

/** Returns the owners that have a session. */
export const aliveOwners = statement<{ owner: string }>('alive_owners', { owner: 'text' })`
  select distinct r.owner from ${rows} r join pg_locks l on ${isLockOf('owner', 'r.owner')}`

export const takeOwnership = statement<{ name: string }>('take_ownership', { name: 'text' })`
  select r.name from ${rows} r where pg_try_advisory_lock(${lockKey('own', 'r.name')})`

export const releaseOwnership = statement<{ name: string }>('release_ownership', { name: 'text' })`
  select r.name from ${rows} r where pg_advisory_unlock(${lockKey('own', 'r.name')})`

const evictStalled = (kind: 'owner' | 'own') =>
  statement<{ evicted: number }>(`evict_stalled_${kind}`, { name: 'text', lease_ms: 'bigint' })`
    select pg_terminate_backend(a.pid) as evicted
    from ${rows} r join pg_locks l on ${isLockOf(kind, 'r.name')} join pg_stat_activity a on a.pid = l.pid
    where a.state = 'active' and a.wait_event_type = 'Client'
      and a.query_start < clock_timestamp() - r.lease_ms * interval '1 millisecond'`

/**
 * Ends the session of the lock's holder if it stopped within a request, so that the server has waited for the rest for longer
 * than the lease: idle_session_timeout does not count that time.
 */
export const evictStalledHolder = evictStalled('own')
/** The same for owners. */
export const evictStalledOwner = evictStalled('owner')
