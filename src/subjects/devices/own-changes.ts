// What the app of one user may change: an app is not trusted, so its rows, its new tokens and its repetitions are bounded.

import { clock } from '../../base/runtime/clock.ts'
import { type Timestamp, timestampOf } from '../../contract/timestamp.ts'
import type { DeviceEvent } from './device-event.ts'
import type { Change } from './device-rows.ts'
import type { Registry } from './registry.ts'
import type { OwnRow } from './tables.ts'

/** The most different tokens that a user's app may link or unlink in a day. */
export const mostTokensPerDay = 50
/** The most rows of a user after a change by the user's app. Beyond it, the devices that were ended first are forgotten. */
const mostRows = 100
/** A link that is repeated within this time is neither stored nor published again. */
const repeatedMs = 3_600_000
const dayMs = 24 * 3_600_000

/** The user has linked or unlinked `mostTokensPerDay` tokens today, and these would be new ones. */
export class TooManyTokens extends Error {}

/**
 * Stores the events of one user, which come from the user's app.
 *
 * @throws TooManyTokens
 * @returns the effect of each event; those without an effect come last
 */
export async function takeOwn(
  registry: Pick<Registry, 'storeEvents' | 'ownRows' | 'forgetEnded'>,
  events: readonly DeviceEvent[],
  most: number | undefined,
): Promise<readonly Change[]> {
  const [first] = events
  if (!first) return []
  const rows = await registry.ownRows(first.brand, first.userId)
  const known = new Map(rows.map((row) => [row.device, row]))
  const now = clock.now()
  const today = rows.filter((row) => changedAt(row) >= timestampOf(now - dayMs)).length
  const added = new Set(events.map(({ id }) => id).filter((id) => !known.has(id))).size
  if (added > 0 && today + added > mostTokensPerDay) throw new TooManyTokens()
  const since = timestampOf(now - repeatedMs)
  const effective = events.filter((event) => !isRepeated(event, known.get(event.id), since))
  const changes = await registry.storeEvents(effective, [], most)
  const ended = rows.filter(isEnded).sort((a, b) => (changedAt(a) < changedAt(b) ? -1 : 1))
  const excess = Math.max(0, rows.length + added - mostRows)
  if (excess > 0) await registry.forgetEnded(ended.slice(0, excess))
  return [...changes, ...new Array<Change>(events.length - effective.length).fill('none')]
}

const isEnded = ({ link_at, ended_at }: OwnRow): boolean => ended_at !== '' && ended_at >= link_at
const changedAt = ({ link_at, ended_at }: OwnRow): Timestamp => (link_at > ended_at ? link_at : ended_at)

function isRepeated(event: DeviceEvent, row: OwnRow | undefined, since: Timestamp): boolean {
  if (!row || changedAt(row) < since) return false
  if (event.what === 'unlink') return isEnded(row)
  return (
    !isEnded(row) && (['token', 'kind', 'app', 'environment', 'channel'] as const).every((n) => event[n] === row[n])
  )
}
