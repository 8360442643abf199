// The delivery statuses of messages that the platform delivers itself. They are stored where the statuses of operators are, so
// counts, lists and `explain` have both.

import { laneName } from '../../base/queue/lane-name.ts'
import { clock } from '../../base/runtime/clock.ts'
import { emit } from '../../base/runtime/events.ts'
import type { Database, Op } from '../../base/store/database.ts'
import type { ContentMapping } from '../../contract/content.ts'
import type { Channel } from '../../contract/endpoints.ts'
import { readMessageKey } from '../../contract/message-key.ts'
import { storeOps } from '../../subjects/conversions/status-intake.ts'
import { findByRefs } from '../../subjects/delivery/messages.ts'
import type { SettledOps } from '../../subjects/delivery/settle.ts'
import type { StatusOps } from '../../subjects/inbox/marks.ts'
import { firstStatuses } from '../../subjects/status/outcome-status.ts'
import { correctTime, type StatusChange, type StatusRecorder } from '../../subjects/status/recorder.ts'

export interface OwnStatuses {
  /** Records the outcomes of a channel, in the commit of their settle. */
  settledOps(success: 'sent' | 'delivered'): SettledOps
  /** Records what becomes of notifications in the inbox, in the commit of its cause. */
  readonly inboxOps: StatusOps
  /** Records the statuses that apps, browsers and providers report. */
  readonly record: StatusRecorder['record']
}

/** @example await createOwnStatuses(databaseOf).record([{ brand: '1', ref: '0190…', status: 'clicked', at: '2026-01-31T10:00:00' }]) */
export function createOwnStatuses(databaseOf: (brand: string) => Database, meta?: ContentMapping['meta']): OwnStatuses {
  return {
    settledOps: (success) => (settled) => statusOps(firstStatuses(settled, success, meta)),
    inboxOps: (changes) => statusOps(changes.map((change) => ({ ...change, channel: 'site', meta: null }))),
    async record(changes, userId) {
      const byBrand = [...Map.groupBy(changes, ({ brand }) => brand)]
      return (await Promise.all(byBrand.map(([brand, own]) => recordOf(brand, own, userId)))).flat()
    },
  }

  /** @returns the identifiers that have no message of this brand and user */
  async function recordOf(brand: string, changes: readonly StatusChange[], userId: string | undefined) {
    const database = databaseOf(brand)
    const refs = [...new Set(changes.map(({ ref }) => ref))]
    const found = (await findByRefs(database, [brand], refs)).filter(
      ({ user_id: user }) => userId === undefined || user === userId,
    )
    const channelOf = new Map(found.map(({ ref, key }) => [ref, readMessageKey(key).channel]))
    const known = changes.flatMap((change) => {
      const channel = channelOf.get(change.ref)
      return channel === undefined ? [] : [{ ...change, channel, meta: null }]
    })
    if (known.length > 0) await database.commit(statusOps(known.map(correctTime(clock.now()))))
    return refs.filter((ref) => !channelOf.has(ref))
  }
}

interface OwnStatus extends StatusChange {
  readonly channel: Channel
  /** Of the first status only: the meta is stored once. */
  readonly meta: string | null
}

/** The queue may not have the identifiers yet: the lane settles a message after the send path. */
function statusOps(statuses: readonly OwnStatus[]): readonly Op[] {
  if (statuses.length === 0) return []
  const stored = statuses.map(({ brand, channel, ...status }) => ({ ...status, lane: laneName(brand, channel) }))
  for (const { lane, status } of stored) emit('status.reported', { lane, status, via: 'own' })
  return storeOps(stored, stored)
}
