// Polls the statuses of a lane from its operator. The cursor is committed with the statuses before it, so a page that was read and
// not committed is read again.

import { type AddressOptions, createCaller } from '../../base/http-client/caller.ts'
import { brandOf } from '../../base/queue/lane-name.ts'
import { retryIn } from '../../base/runtime/backoff.ts'
import { clock } from '../../base/runtime/clock.ts'
import { emit } from '../../base/runtime/events.ts'
import { createLoop } from '../../base/runtime/loop.ts'
import type { Database, Op, Ownership } from '../../base/store/database.ts'
import { op } from '../../base/store/statement.ts'
import { apiKeyHeaders } from '../../contract/endpoints.ts'
import type { ReadStatus } from '../../contract/status-record.ts'
import { candidateLanes } from './find-lane.ts'
import { PageRefused, requestPage } from './request-page.ts'
import type { StatusIntake } from './status-intake.ts'
import { StatusesFull } from './status-quota.ts'
import { selectCursor, upsertCursor } from './tables.ts'

/** The operator of a lane, whose statuses are polled. */
export interface PolledOperator extends AddressOptions {
  /** The operator's {base_url}. */
  readonly url: string
  readonly apiKey?: string | undefined
  /** The time between two requests while there is nothing new. Default: 5 seconds. */
  readonly everyMs?: number
}

export interface PollerOptions extends PolledOperator {
  readonly lane: string
  readonly databaseOf: (brand: string) => Database
  readonly intake: StatusIntake
}

export interface Poller {
  start(): void
  stop(): Promise<void>
}

const everyByDefaultMs = 5_000
const timeoutMs = 30_000
const longestBackoffMs = 300_000
const fullRetryAfterMs = 60_000

/** One process at a time polls a lane. */
export function createPoller(options: PollerOptions): Poller {
  const { lane, databaseOf, intake, apiKey, everyMs = everyByDefaultMs } = options
  const operator = createCaller({ ...options, headers: apiKeyHeaders(apiKey) })
  const stopping = new AbortController()
  let owned: { readonly database: Database; readonly ownership: Ownership } | undefined
  let failures = 0
  /** The 410 answers since the last time when there was nothing new. */
  let restarts = 0

  const loop = createLoop(`polling the statuses of ${lane}`, async () => {
    const database = databaseOf(brandOf(lane))
    if (!(await acquire(database))) return everyMs
    const began = clock.monotonic()
    try {
      const more = await pollPage(database)
      failures = 0
      if (!more) restarts = 0
      // The operator decides how many pages there are: they take at most half of the time.
      return more ? clock.monotonic() - began : everyMs
    } catch (error) {
      if (!(error instanceof PageRefused)) throw error
      const backoff = { firstMs: 2 * everyMs, mostMs: longestBackoffMs }
      const inMs = retryIn(++failures, backoff, Math.max(everyMs, error.retryAfterMs ?? 0))
      if (!stopping.signal.aborted) emit('poll.failed', { lane, error: error.message, inMs })
      return inMs
    }
  })

  async function acquire(database: Database): Promise<boolean> {
    if (owned?.database === database && !owned.ownership.lost.aborted) return true
    const ownership = await database.own(`statuses ${lane}`)
    owned = ownership && { database, ownership }
    return ownership !== undefined
  }

  /** @returns whether the next page may have records already */
  async function pollPage(database: Database): Promise<boolean> {
    const [row] = await database.read(op(selectCursor, [[lane]]))
    const after = row?.cursor
    const answer = await requestPage({ operator, after, timeoutMs, signal: stopping.signal })
    const cursorOp = (cursor: string): Op => op(upsertCursor, [[lane, cursor, clock.now()]])
    if (owned?.ownership.lost.aborted !== false) return false
    if ('restart' in answer) {
      if (answer.restart === after)
        throw new PageRefused(`status 410, although the platform goes on with the cursor ${after} that it named`)
      await database.commit([cursorOp(answer.restart)])
      emit('poll.restarted', { lane })
      if (++restarts > 1) throw new PageRefused('status 410 again, before the platform had read all statuses')
      return true
    }
    const records = answer.records.filter(isOfLane)
    const moved = answer.next !== after
    if (moved || records.length > 0) await store(records, [cursorOp(answer.next)])
    emit('poll.done', { lane, records: records.length })
    return moved && answer.records.length > 0
  }

  async function store(records: readonly ReadStatus[], more: readonly Op[]): Promise<void> {
    try {
      await intake.storeStatuses(records, [lane], 'poll', more)
    } catch (error) {
      if (error instanceof StatusesFull) throw new PageRefused(error.message, fullRetryAfterMs)
      throw error
    }
  }

  /** The operator's answer has the statuses of all its lanes. An unreadable record may be of this one. */
  const isOfLane = (record: ReadStatus): boolean => 'invalid' in record || candidateLanes(record, [lane]).length > 0

  return {
    start: () => loop.start(),
    async stop() {
      stopping.abort(new Error('the platform is stopping'))
      await loop.stop()
      await operator.destroy()
      await owned?.ownership.release()
    },
  }
}
