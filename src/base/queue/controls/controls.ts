// The table `controls`: the changes that a person, or a lane itself, makes to lanes while they run. Controls are stored, so that a
// restart or a new owner does not end them. The owner of a lane applies them: lane-controls.ts.

import { clock } from '../../runtime/clock.ts'
import { emit } from '../../runtime/events.ts'
import { present } from '../../runtime/present.ts'
import type { Database, Op } from '../../store/database.ts'
import { op, rows, statement } from '../../store/statement.ts'
import { controlTopic } from '../wake-topics.ts'

/**
 * pause: stops every call of the scope. activity, action: holds back the messages of one activity_id or action_id. setting:
 * replaces the configured value of one setting of a lane. hold: the provider of a lane asked for a pause.
 */
export type ControlKind = 'pause' | 'activity' | 'action' | 'setting' | 'hold'

export interface ControlKey {
  /** One lane ('1/push'), or all lanes of a brand ('1/'). */
  readonly scope: string
  readonly kind: ControlKind
  /** The activity_id, the action_id or the name of the setting (lane-settings.ts). Empty for `pause`. */
  readonly name: string
}

export interface NewControl extends ControlKey {
  /** The value of the setting. Absent for a pause. */
  readonly value?: string
  /** The name of the key that set the control; `itself` for a lane that paused itself. */
  readonly by: string
  readonly reason: string
  /** Epoch milliseconds. Absent: the control stays until a person ends it. */
  readonly expiresAt?: number
}

export interface Control extends NewControl {
  readonly id: number
  /** When it was set, in epoch milliseconds. */
  readonly at: number
}

/** The author of a pause that a lane starts after many refusals. */
export const itself = 'bellwire'

/** The scope of all lanes of a brand. */
export const brandScope = (brand: string): string => `${brand}/`

/** @example scopesOf('1/push') // ['1/push', '1/'] */
export const scopesOf = (lane: string): readonly string[] => [lane, lane.slice(0, lane.indexOf('/') + 1)]

/** Whether the lane is one of the scope. */
export const isInScope = (lane: string, scope: string): boolean => scopesOf(lane).includes(scope)

// The statements that change rows return them: so they run separately for each caller, and two callers may name the same control.
const upsertControls = statement<{ id: number }>('set_controls', {
  scope: 'text',
  kind: 'text',
  name: 'text',
  value: 'text',
  set_by: 'text',
  reason: 'text',
  at: 'bigint',
  expires_at: 'bigint',
})`
  insert into controls (scope, kind, name, value, set_by, reason, at, expires_at)
  select r.scope, r.kind, r.name, r.value, r.set_by, r.reason, r.at, r.expires_at from ${rows} r where true
  on conflict (scope, kind, name) do update set value = excluded.value, set_by = excluded.set_by, reason = excluded.reason,
    at = excluded.at, expires_at = excluded.expires_at
  returning id`

const deleteControls = statement<ControlKey>('end_controls', { scope: 'text', kind: 'text', name: 'text' })`
  delete from controls where (scope, kind, name) in (select r.scope, r.kind, r.name from ${rows} r)
  returning scope, kind, name`

// A control that was set again meanwhile has another time.
const deleteExpired = statement<ControlKey>('expire_controls', { id: 'bigint', expires_at: 'bigint' })`
  delete from controls where (id, expires_at) in (select r.id, r.expires_at from ${rows} r)
  returning scope, kind, name`

/** Absent members are null. */
type ControlRow = { readonly [Name in keyof Control]-?: Control[Name] | null }

const selectControls = statement<ControlRow>('select_controls', { scope: 'text' }, { route: 'scope' })`
  select c.id, c.scope, c.kind, c.name, c.value, c.set_by as "by", c.reason, c.at, c.expires_at as "expiresAt"
  from ${rows} r join controls c on c.scope = r.scope order by c.id`

/** Stores controls and wakes the owners of their lanes. A control with the same key is replaced. */
export async function setControls(
  database: Database,
  controls: readonly NewControl[],
  also: readonly Op[] = [],
): Promise<void> {
  const now = clock.now()
  await database.commit([
    op(upsertControls, controls, ({ scope, kind, name, value = null, by, reason, expiresAt = null }) => [
      scope,
      kind,
      name,
      value,
      by,
      reason,
      now,
      expiresAt,
    ]),
    ...wakeOps(database, controls),
    ...also,
  ])
  for (const control of controls.filter(isOfPeople)) emit('control.set', control)
}

/** Ends controls and wakes the owners of their lanes. @returns the controls that existed */
export async function endControls(
  database: Database,
  keys: readonly ControlKey[],
  by: string,
  also: readonly Op[] = [],
): Promise<readonly ControlKey[]> {
  const rows = keys.map(({ scope, kind, name }) => [scope, kind, name])
  const [ended] = await database.commit([op(deleteControls, rows), ...wakeOps(database, keys), ...also])
  for (const key of ended.filter(isOfPeople)) emit('control.ended', { ...key, by })
  return ended
}

/** The end of a hold in whose place a person wants a probe. */
const probeAt = 1

/**
 * Ends the pauses that the providers of these lanes asked for, and requests a probe. The request is stored: a wake-up may be lost,
 * and after an outage of the store each lane is woken without one.
 */
export const probeLanes = (database: Database, lanes: readonly string[]): Promise<void> =>
  setControls(
    database,
    lanes.map((scope) => ({ scope, kind: 'hold', name: '', by: itself, reason: 'probe', expiresAt: probeAt })),
  )

export const isProbe = ({ kind, expiresAt }: NewControl): boolean => kind === 'hold' && expiresAt === probeAt

/** Deletes expired controls, unless they were set again. */
export async function expireControls(database: Database, expired: readonly Control[]): Promise<void> {
  const rows = expired.map(({ id, expiresAt = null }) => [id, expiresAt])
  const [ended] = await database.commit([op(deleteExpired, rows)])
  for (const key of ended.filter(isOfPeople)) emit('control.ended', { ...key, by: 'expiry' })
}

/** Reads the controls of these scopes, also those that have expired and are not deleted yet. */
export async function readControls(read: Database['read'], scopes: readonly string[]): Promise<readonly Control[]> {
  const rows = await read(op(selectControls, scopes, (scope) => [scope]))
  return rows.map((row) => present(row) as Control)
}

/** Whether people see the control: a hold is a state of its lane. */
export const isOfPeople = ({ kind }: Pick<ControlKey, 'kind'>): boolean => kind !== 'hold'

export const isExpired = ({ expiresAt = Number.POSITIVE_INFINITY }: NewControl, now: number): boolean =>
  expiresAt <= now

function wakeOps(database: Database, keys: readonly ControlKey[]) {
  return [...new Set(keys.map(({ scope }) => scope))].map((scope) => database.wake(controlTopic(scope)))
}
