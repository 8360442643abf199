// The delivery statuses of the platform's messages, as operators report them (§1.5, §6.2).

import type { FastifyInstance } from 'fastify'
import type { ErasedPeople } from '../../base/people/erasures.ts'
import { brandOf } from '../../base/queue/lane-name.ts'
import { createLaneSet } from '../../base/queue/lane-set.ts'
import { forgetOutcomeCounts } from '../../base/queue/outcome-counts.ts'
import { parkedLane } from '../../base/queue/parked-lane.ts'
import type { LaneHandler, LaneService, Queue } from '../../base/queue/queue.ts'
import type { Database } from '../../base/store/database.ts'
import type { Outcome } from '../../contract/outcome.ts'
import { refuseFailed } from '../../contract/refusals.ts'
import { readStatus } from '../../contract/status-record.ts'
import { createAwaitedLoop } from './awaited.ts'
import { forgetConversions } from './counted.ts'
import { noBrand, parkedStatusLane, readParked } from './parked.ts'
import { createPoller, type PolledOperator, type Poller } from './poller.ts'
import { createStatusIntake, type StatusIntake } from './status-intake.ts'
import { createStatusQuota } from './status-quota.ts'
import { forgetReported } from './tables.ts'
import { type StatusSecret, statusSecrets, statusWebhookRoute } from './webhook-route.ts'

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
  /** Lanes with secrets may come later: the route of §6.2 is registered in any case. */
  readonly mayChange: boolean
}

export interface Conversions {
  /** The lanes of parked statuses. */
  lanes(): readonly LaneService[]
  /** Registers the route of §6.2, if a lane has a secret or may get one. */
  routes(app: FastifyInstance): void
  /** Polls the statuses of a lane. */
  createPoller(lane: string, operator: PolledOperator): Poller
  /** The platform has these lanes from now on. */
  replaceLanes(lanes: readonly StatusLane[]): void
  start(): void
  stop(withinMs?: number): Promise<void>
}

const waitByDefaultMs = 3_600_000

/** The retention of reported statuses and of their counts. */
export const forgetStatuses = [forgetReported, forgetConversions, forgetOutcomeCounts]

export function createConversions(options: ConversionsOptions): Conversions {
  const { stores, databaseOf, queue, mayChange, erased } = options
  const quota = createStatusQuota({ queue, databaseOf })
  const intake = createStatusIntake({ queue, quota, databaseOf, erased })
  // A replay stores a record as if the operator had sent it now.
  const replay: LaneHandler = (items) => Promise.all(items.map(({ text }) => replayStatus(intake, text)))
  const parkedLanes = createLaneSet<string>((_brand, name) => queue.serveLane({ ...parkedLane, name }, replay))
  let waits: ReadonlyMap<string, number | undefined> = new Map()
  let secrets: readonly StatusSecret[] = []
  const loops = stores.map(({ database }) =>
    createAwaitedLoop({
      database,
      queue,
      quota,
      isReported: () => parkedLanes.list().length > 0,
      waitMs: (lane) => waits.get(lane) ?? waitByDefaultMs,
    }),
  )

  function replaceLanes(lanes: readonly StatusLane[]): void {
    secrets = statusSecrets(lanes.map(({ name, secrets: own = [] }) => ({ name, secrets: own })))
    waits = new Map(lanes.map(({ name, waitMs }) => [name, waitMs]))
    const reporting = lanes.filter(({ secrets: own = [], poll, isOwn }) => own.length > 0 || poll || isOwn)
    // Also of records without a known brand.
    const brands = reporting.length > 0 ? [noBrand, ...reporting.map(({ name }) => brandOf(name))] : []
    parkedLanes.replace(new Map(brands.map((brand) => [parkedStatusLane(brand), brand])))
  }

  replaceLanes(options.lanes)
  return {
    lanes: parkedLanes.list,
    routes(app) {
      if (mayChange || secrets.length > 0) statusWebhookRoute(app, { secrets: () => secrets, intake })
    },
    createPoller: (lane, operator) => createPoller({ lane, ...operator, databaseOf, intake }),
    replaceLanes,
    start() {
      parkedLanes.start()
      for (const loop of loops) loop.start()
    },
    async stop(withinMs) {
      await Promise.all(loops.map((loop) => loop.stop()))
      await parkedLanes.stop(withinMs)
    },
  }
}

async function replayStatus(intake: StatusIntake, stored: string): Promise<Outcome> {
  const { lanes, text } = readParked(stored)
  const record = readStatus(text)
  if ('invalid' in record) return refuseFailed('unreadable_status', { error: record.invalid })
  const error = await intake.storeParkedStatus(record, lanes)
  return error === undefined ? { category: 'successful', rule: 'taken' } : refuseFailed('unknown_identifier', { error })
}
