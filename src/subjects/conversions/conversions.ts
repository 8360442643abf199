// The delivery statuses of the platform's messages, as operators report them (§1.5, §6.2).

import type { FastifyInstance } from 'fastify'
import type { ErasedPeople } from '../../base/people/erasures.ts'
import { brandOf } from '../../base/queue/lane-name.ts'
import { forgetOutcomeCounts } from '../../base/queue/outcome-counts.ts'
import { parkedLane } from '../../base/queue/parked-lane.ts'
import type { LaneHandler, LaneService, Lanes, Queue } from '../../base/queue/queue.ts'
import type { Database } from '../../base/store/database.ts'
import type { Outcome } from '../../contract/outcome.ts'
import { refuseFailed } from '../../contract/refusals.ts'
import { readStatus } from '../../contract/status-record.ts'
import { createAwaitedLoop } from './awaited.ts'
import { forgetConversions } from './counted.ts'
import { noBrand, parkedStatusLane, readParked } from './parked.ts'
import { createPoller, type PolledOperator } from './poller.ts'
import { createStatusIntake, type StatusIntake } from './status-intake.ts'
import { createStatusQuota } from './status-quota.ts'
import { forgetReported } from './tables.ts'
import { statusSecrets, statusWebhookRoute } from './webhook-route.ts'

/** A lane of messages, and how its operator reports their statuses. */
export interface StatusLane {
  readonly name: string
  readonly secrets?: readonly string[]
  readonly waitMs?: number
  readonly poll?: PolledOperator
  /** The platform delivers its messages, and records their statuses itself. */
  readonly isOwn?: boolean
}

export interface ConversionsOptions {
  readonly stores: readonly { readonly database: Database }[]
  readonly databaseOf: (brand: string | undefined) => Database
  readonly queue: Queue
  readonly lanes: readonly StatusLane[]
  readonly erased: Pick<ErasedPeople, 'find'>
}

export interface Conversions {
  /** The lanes of parked statuses. */
  readonly lanes: readonly LaneService[]
  /** Registers the route of §6.2, if a lane has a secret. */
  routes(app: FastifyInstance): void
  start(): void
  stop(withinMs?: number): Promise<void>
}

const waitByDefaultMs = 3_600_000

/** The retention of reported statuses and of their counts. */
export const forgetStatuses = [forgetReported, forgetConversions, forgetOutcomeCounts]

export function createConversions({ stores, databaseOf, queue, lanes, erased }: ConversionsOptions): Conversions {
  const quota = createStatusQuota({ queue, databaseOf })
  const intake = createStatusIntake({ queue, quota, databaseOf, erased })
  const reporting = lanes.filter(({ secrets = [], poll, isOwn }) => secrets.length > 0 || poll || isOwn)
  const parkedLanes = serveParkedLanes(
    queue,
    intake,
    reporting.map(({ name }) => brandOf(name)),
  )
  const waits = new Map(lanes.map(({ name, waitMs }) => [name, waitMs]))
  const waitMs = (lane: string): number => waits.get(lane) ?? waitByDefaultMs
  const loops = (reporting.length > 0 ? stores : []).map(({ database }) =>
    createAwaitedLoop({ database, queue, quota, waitMs }),
  )
  const pollers = lanes.flatMap(({ name: lane, poll }) =>
    poll ? [createPoller({ lane, ...poll, databaseOf, intake })] : [],
  )
  return {
    lanes: parkedLanes,
    routes(app) {
      const secrets = statusSecrets(reporting.map(({ name, secrets = [] }) => ({ name, secrets })))
      if (secrets.length > 0) statusWebhookRoute(app, { secrets, intake })
    },
    start() {
      for (const each of [...parkedLanes, ...loops, ...pollers]) each.start()
    },
    async stop(withinMs) {
      await Promise.all([...loops, ...pollers].map((each) => each.stop()))
      await Promise.all(parkedLanes.map((lane) => lane.stop(withinMs)))
    },
  }
}

/** Serves the lanes of parked statuses of these brands, and of records without a known brand. A replay stores a record as if the operator had sent it now. */
function serveParkedLanes(queue: Lanes, intake: StatusIntake, brands: readonly string[]): readonly LaneService[] {
  const replay: LaneHandler = (items) => Promise.all(items.map(({ text }) => replayStatus(intake, text)))
  const all = brands.length > 0 ? [noBrand, ...new Set(brands)] : []
  return all.map((brand) => queue.serveLane({ ...parkedLane, name: parkedStatusLane(brand) }, replay))
}

async function replayStatus(intake: StatusIntake, stored: string): Promise<Outcome> {
  const { lanes, text } = readParked(stored)
  const record = readStatus(text)
  if ('invalid' in record) return refuseFailed('unreadable_status', { error: record.invalid })
  const error = await intake.storeParkedStatus(record, lanes)
  return error === undefined ? { category: 'successful', rule: 'taken' } : refuseFailed('unknown_identifier', { error })
}
