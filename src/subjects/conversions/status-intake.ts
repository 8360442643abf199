// Stores the statuses that operators report. Webhooks, polling and the replays of parked records come through here.

import { isErased } from '../../base/people/digest.ts'
import type { ErasedPeople } from '../../base/people/erasures.ts'
import { findRefs, type KnownRefs, type LaneRef, laneRefKey } from '../../base/queue/find-refs.ts'
import { brandOf } from '../../base/queue/lane-name.ts'
import type { QueueInput } from '../../base/queue/queue.ts'
import { clock } from '../../base/runtime/clock.ts'
import { emit } from '../../base/runtime/events.ts'
import type { Database, Op } from '../../base/store/database.ts'
import { op } from '../../base/store/statement.ts'
import { readMessageKey } from '../../contract/message-key.ts'
import type { InvalidStatus, ReadStatus, StatusRecord } from '../../contract/status-record.ts'
import { clampTo } from '../../contract/timestamp.ts'
import { conversionsOp } from './counted.ts'
import { candidateLanes, placeStatus, readMeta } from './find-lane.ts'
import { noBrand, type ParkedStatus, parkedItem, parkedStatusLane, parkedText } from './parked.ts'
import type { StatusQuota } from './status-quota.ts'
import { insertAwaited, insertReported, type ReportedStatus } from './tables.ts'

export interface StatusIntakeOptions {
  readonly queue: QueueInput
  readonly quota: StatusQuota
  /** The database of a brand; of noBrand, the database of all brands that have none of their own. */
  readonly databaseOf: (brand: string) => Database
  readonly erased: Pick<ErasedPeople, 'find'>
}

/** How many records were stored, and how many of them wait for their identifier; how many were parked. */
export interface TakenStatuses {
  readonly accepted: number
  readonly awaited: number
  readonly parked: readonly ParkedStatus[]
}

export interface StatusIntake {
  /**
   * Stores the records; a record that cannot be stored is parked. They are durable when the promise resolves. Repeating the call
   * changes nothing.
   *
   * @param lanes the lanes of the sender: no message of another lane is changed
   * @param via for the metrics
   * @param more operations on the database of the first lane's brand, in the same transaction as its records
   * @throws StatusesFull if a lane has too many statuses of unknown messages already; nothing is then stored
   */
  storeStatuses(
    records: readonly ReadStatus[],
    lanes: readonly string[],
    via: 'webhook' | 'poll',
    more?: readonly Op[],
  ): Promise<TakenStatuses>
  /** Stores a parked record if a message has its identifier now. @returns why it cannot be stored, or undefined */
  storeParkedStatus(record: ReadStatus, lanes: readonly string[]): Promise<string | undefined>
}

/** A record, with the lane of its message. */
interface PlacedStatus extends LaneRef {
  readonly record: StatusRecord
  readonly awaited: boolean
}

interface SortedStatuses {
  readonly placed: readonly PlacedStatus[]
  readonly parked: readonly ParkedStatus[]
  readonly known: KnownRefs
}

/** @example await createStatusIntake({ queue, quota, databaseOf }).take(readStatusBody(body), ['1/push', '1/site'], 'webhook') */
export function createStatusIntake({ queue, quota, databaseOf, erased }: StatusIntakeOptions): StatusIntake {
  async function sort(records: readonly ReadStatus[], lanes: readonly string[]): Promise<SortedStatuses> {
    const known = await findKnown(records.filter(isRecord), lanes)
    const brands = new Set(lanes.map(brandOf))
    const onlyBrand = brands.size === 1 ? brandOf(lanes[0] as string) : noBrand
    const placed: PlacedStatus[] = []
    const parked: ParkedStatus[] = []
    for (const record of records) {
      if ('invalid' in record) {
        parked.push(unreadable(record, onlyBrand, lanes))
        continue
      }
      const place = placeStatus(record, candidateLanes(record, lanes), known)
      if ('unplaced' in place)
        parked.push({
          code: 'unplaced_status',
          brand: onlyBrand,
          text: parkedText(withoutErased(record)),
          error: place.unplaced,
          lanes,
        })
      else if ('known' in place) placed.push({ lane: place.known, ref: record.ref, record, awaited: false })
      else placed.push({ lane: place.awaited, ref: record.ref, record: withoutErased(record), awaited: true })
    }
    return { placed, parked, known }
  }

  /** No message shows whether the status of an unknown identifier is from before the erasure: a restored store may lack the message. */
  function withoutErased(record: StatusRecord): StatusRecord {
    const user = readMeta(record.meta)
    return user && erased.find(user.brandId, user.userId) ? { ...record, meta: null } : record
  }

  async function findKnown(records: readonly StatusRecord[], lanes: readonly string[]): Promise<KnownRefs> {
    const refs = records.flatMap((record) => candidateLanes(record, lanes).map((lane) => ({ lane, ref: record.ref })))
    const byDatabase = Map.groupBy(refs, ({ lane }) => databaseOf(brandOf(lane)))
    const known = await Promise.all([...byDatabase].map(([database, own]) => findRefs(database, own)))
    return new Map(known.flatMap((each) => [...each]))
  }

  /** One transaction in each database. If one of them fails, the sender repeats the whole call. */
  async function commit(
    { placed, parked, known }: SortedStatuses,
    [lane]: readonly string[],
    more: readonly Op[],
  ): Promise<void> {
    const ops = new Map<Database, Op[]>()
    const add = (brand: string, more: readonly Op[]): void => {
      const database = databaseOf(brand)
      ops.set(database, [...(ops.get(database) ?? []), ...more])
    }
    for (const [brand, own] of Map.groupBy(placed, ({ lane }) => brandOf(lane))) add(brand, placedOps(own, known))
    for (const [brand, own] of Map.groupBy(parked, (each) => each.brand)) add(brand, parkedOps(queue, brand, own))
    if (lane !== undefined && more.length > 0) add(brandOf(lane), more)
    await Promise.all([...ops].map(([database, each]) => database.commit(each)))
  }

  return {
    async storeStatuses(records, lanes, via, more = []) {
      const sorted = await sort(records, lanes)
      const { placed, parked } = sorted
      const awaited = placed.filter((each) => each.awaited)
      await quota.take([...awaited.map(({ lane }) => lane), ...parked.map(({ brand }) => parkedStatusLane(brand))])
      await commit(sorted, lanes, more)
      for (const { lane, record } of placed) emit('status.reported', { lane, status: record.status, via })
      for (const each of parked) emitParked(each)
      return { accepted: placed.length, awaited: awaited.length, parked }
    },
    async storeParkedStatus(record, lanes) {
      const sorted = await sort([record], lanes)
      const { placed, parked } = sorted
      const reason = parked[0]?.error
      if (reason !== undefined) return reason
      if (placed.some(({ awaited }) => awaited)) return 'no message has this identifier'
      await commit(sorted, lanes, [])
      return undefined
    },
  }
}

const isRecord = (read: ReadStatus): read is StatusRecord => !('invalid' in read)

function placedOps(placed: readonly PlacedStatus[], known: KnownRefs): readonly Op[] {
  const statuses = placed.map(({ lane, ref, record: { status, at, meta } }) => {
    const key = known.get(laneRefKey({ lane, ref }))?.key
    return { lane, ref, status, at, meta: key !== undefined && isErased(readMessageKey(key).userId) ? null : meta }
  })
  const awaited = placed.filter((each) => each.awaited)
  return [...storeOps(statuses, awaited), conversionsOp(statuses, known)]
}

/**
 * Operations that store statuses.
 *
 * @param awaited the identifiers that the queue may not have yet. Their statuses count as soon as it has them: see awaited.ts
 */
export function storeOps(statuses: readonly ReportedStatus[], awaited: readonly LaneRef[]): readonly Op[] {
  const now = clock.now()
  const clamp = clampTo(now)
  const rows = statuses.map(({ lane, ref, status, at, meta }) => [lane, ref, status, clamp(at).at, meta, now])
  const awaiting = awaited.map(({ lane, ref }) => [lane, ref, now])
  return [...(awaiting.length > 0 ? [op(insertAwaited, awaiting)] : []), op(insertReported, rows)]
}

/** Operations that park these records. */
export function parkedOps(queue: QueueInput, brand: string, parked: readonly ParkedStatus[]): readonly Op[] {
  const items = new Map(parked.map((each) => [each, parkedItem(each)] as const).map(([, item]) => [item.key, item]))
  return queue.insertFailedOps(parkedStatusLane(brand), [...items.values()])
}

export function emitParked({ brand, code, error }: ParkedStatus): void {
  emit('status.parked', { lane: parkedStatusLane(brand), code, reason: error })
}

function unreadable({ invalid, text }: InvalidStatus, brand: string, lanes: readonly string[]): ParkedStatus {
  return { code: 'unreadable_status', brand, text, error: invalid, lanes }
}
