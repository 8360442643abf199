// Lanes of the platform's store: added, changed and removed by calls.

import { Type } from 'typebox'
import type { AccessKey } from '../../base/http/access.ts'
import { HttpError } from '../../base/http/http-error.ts'
import type { LaneService } from '../../base/queue/queue.ts'
import { ConfigError } from '../../base/runtime/problem.ts'
import { atMost } from '../../base/runtime/within.ts'
import { closedObject, text, whole } from '../../contract/documents/described.ts'
import { shown } from '../../contract/shown.ts'
import { AddedLane, ChangedLane, RemovedLane } from './requests.ts'
import { adminRoute } from './route.ts'
import type { ReadLane, StoredLane, StoredLanes } from './stored-lanes.ts'
import { demandBrand, isLaneVisible } from './visibility.ts'

/** A caller waits this long until its lanes are replaced. */
const applyWithinMs = 2_000

const Shown = closedObject({
  lane: text('The name of the lane'),
  settings: Type.Record(Type.String(), Type.String(), { description: 'Its settings with defaults, without secrets' }),
})
const invalid = { 400: 'The settings are not valid: the answer names each problem.' }
const noStoredLane = (lane: string): HttpError =>
  new HttpError(
    404,
    `lane: the store has no lane ${JSON.stringify(lane)} for the brands of your key. A lane of the configuration is changed there`,
  )
const none = { 404: 'The store has no such lane, or this key may not see it.' }

export function laneChangeRoutes(stored: StoredLanes, lanes: () => readonly LaneService[]) {
  const shownOf = ({ name, shown }: ReadLane<unknown>) => ({ lane: name, settings: { ...shown } })
  const auditOf = ({ name, brand, shown }: ReadLane<unknown>) => ({ lane: name, brand, given: { settings: shown } })

  /** Before the check of the settings, whose problems name lanes of other brands. */
  function demandNamedBrand(caller: AccessKey, { brand }: Readonly<Record<string, unknown>>): void {
    if (brand !== undefined) demandBrand(caller, typeof brand === 'string' ? brand : shown(brand))
  }

  async function check(others: readonly StoredLane[], settings: object): Promise<ReadLane<unknown>> {
    try {
      const read = await stored.check([...others.map((each) => each.settings), JSON.stringify(settings)])
      return read.at(-1) as ReadLane<unknown>
    } catch (error) {
      throw error instanceof ConfigError ? new HttpError(400, error.message) : error
    }
  }

  async function find(lane: string, isVisible: boolean) {
    const rows = await stored.list()
    const row = rows.find((each) => each.lane === lane)
    if (!row || !isVisible) throw noStoredLane(lane)
    return { row, others: rows.filter((each) => each !== row) }
  }

  const add = adminRoute({
    says: 'Adds a lane to the store, with the settings of `platform.lanes[]`. Each process checks it with its configuration, and serves it without a restart.',
    body: AddedLane,
    gives: Shown,
    refuses: { ...invalid, 409: 'The store has this lane already.' },
    async handler({ body: { settings } }, caller) {
      demandNamedBrand(caller, settings)
      const rows = await stored.list()
      const read = await check(rows, settings)
      const row = { lane: read.name, settings: JSON.stringify(settings) }
      if (!(await stored.add(row, caller.name, caller.audit.ops(auditOf(read)))))
        throw new HttpError(409, `settings: the store has a lane ${read.name} already`)
      await atMost(applyWithinMs, stored.apply())
      return shownOf(read)
    },
  })
  const change = adminRoute({
    says: 'Changes settings of a lane of the store. A setting with null gets its default. `to` is replaced as a whole.',
    body: ChangedLane,
    gives: Shown,
    refuses: { ...invalid, ...none },
    async handler({ body: { lane, settings } }, caller) {
      const { row, others } = await find(lane, isLaneVisible(caller, lane))
      demandNamedBrand(caller, settings)
      const next = { ...(JSON.parse(row.settings) as object), ...settings }
      const written = Object.fromEntries(Object.entries(next).filter(([, value]) => value !== null))
      const read = await check(others, written)
      if (read.name !== lane)
        throw new HttpError(400, `settings: brand and channel of lane ${lane} cannot change: add another lane`)
      const changed = { lane, settings: JSON.stringify(written) }
      if (!(await stored.change(changed, caller.name, caller.audit.ops(auditOf(read))))) throw noStoredLane(lane)
      await atMost(applyWithinMs, stored.apply())
      return shownOf(read)
    },
  })
  const remove = adminRoute({
    says: 'Removes a lane from the store. With `waiting: keep`, its waiting messages stay, and wait until a lane of the same brand and channel is added.',
    body: RemovedLane,
    gives: Type.Object({ lane: Type.String(), waiting: whole('The waiting messages that stay') }),
    refuses: { ...none, 409: 'Messages wait in the lane.' },
    async handler({ body }, caller) {
      const { lane } = body
      await find(lane, isLaneVisible(caller, lane))
      const { waiting = 0 } =
        (await lanes()
          .find(({ name }) => name === lane)
          ?.state()) ?? {}
      if (waiting > 0 && body.waiting !== 'keep')
        throw new HttpError(
          409,
          `${waiting} messages wait in lane ${lane}: let them be sent, cancel them (POST /admin/lanes/cancel), or send "waiting": "keep"; then they wait until the lane is added again`,
        )
      if (!(await stored.remove(lane, caller.audit.ops({ count: waiting })))) throw noStoredLane(lane)
      await atMost(applyWithinMs, stored.apply())
      return { lane, waiting }
    },
  })
  return { add, change, remove }
}
