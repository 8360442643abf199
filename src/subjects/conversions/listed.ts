// Lists conversions: one for each identifier that has a status, with its statuses and their meta.

import { idOf, noId, readOutcomeCounts } from '../../base/queue/outcome-counts.ts'
import { readPages } from '../../base/runtime/read-pages.ts'
import type { Database } from '../../base/store/database.ts'
import { op, rows, statement } from '../../base/store/statement.ts'
import { actionGroups, type ConversionFilter } from './report.ts'
import { readStatuses, type ShownStatuses } from './shown-statuses.ts'
import type { ReachedStage, Stage } from './stage.ts'

/** A lane of messages, with the database of its brand. */
export interface SelectedLane {
  readonly name: string
  readonly database: Database
}

export interface SelectedRange {
  readonly lanes: readonly SelectedLane[]
  /** Days on which the messages were enqueued, both included. */
  readonly since: number
  readonly until: number
}

export interface ListFilter extends ConversionFilter {
  /** delivered, displayed and clicked select the later stages too, as the counts do. */
  readonly stage?: ReachedStage
}

export interface Conversion extends Required<Pick<ShownStatuses, 'statuses'>> {
  readonly lane: string
  /** push_id or site_notification_id. */
  readonly ref: string
  readonly activity: string | null
  readonly action: string | null
  readonly action_group: string | null
  /** accepted: no later stage was reported. */
  readonly stage: ReachedStage | 'accepted'
}

/** The last conversion that was read. Conversions are read by day of the enqueueing, lane and identifier. */
export interface Position {
  readonly day: number
  readonly lane: string
  readonly ref: string
}

interface Page {
  readonly conversions: readonly Conversion[]
  readonly position: Position
}

const rowsOfPage = 1_000

/** Reads all matching conversions in constant memory. A page may be empty before the last one. */
export async function* readConversionList(
  { lanes, since, until }: SelectedRange,
  filter: ListFilter,
  after?: Position,
): AsyncGenerator<Page> {
  const sorted = lanes.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const groupsOf = new Map<string, ReadonlyMap<string, string>>()
  const isAfter = (day: number, lane: string): boolean =>
    after === undefined || day > after.day || (day === after.day && lane >= after.lane)

  for (const day of await readDays(sorted, Math.max(since, after?.day ?? since), until))
    for (const lane of sorted)
      if (isAfter(day, lane.name)) {
        const groups =
          groupsOf.get(lane.name) ?? actionGroups(await readOutcomeCounts(lane.database, lane.name, since, until))
        groupsOf.set(lane.name, groups)
        const begin = after?.day === day && after.lane === lane.name ? after.ref : ''
        yield* readDay(lane, day, begin, groups, filter)
      }
}

async function* readDay(
  { name: lane, database }: SelectedLane,
  day: number,
  begin: string,
  groups: ReadonlyMap<string, string>,
  { stage, ...ids }: ListFilter,
): AsyncGenerator<Page> {
  const read = (ref: string) => database.read(op(selectDay, [[day, lane, ref, rowsOfPage]]))
  for await (const rows of readPages('ref', begin, rowsOfPage, read)) {
    const { ref } = rows.at(-1) as Row
    const found = rows
      .map((row) => ({ ...row, action_group: groups.get(`${row.activity} ${row.action}`) ?? noId }))
      .filter((row) => Object.entries(ids).every(([name, id]) => row[name as keyof ConversionFilter] === id))
      .filter((row) => stage === undefined || isReached(row, stage))
    const shown = await readStatuses(
      () => database,
      found.map((row) => ({ lane, refs: [row.ref] })),
      { withMeta: true },
    )
    const conversions = found.map(
      (row, place): Conversion => ({
        lane,
        ref: row.ref,
        activity: idOf(row.activity),
        action: idOf(row.action),
        action_group: idOf(row.action_group),
        stage: shownStage(row),
        statuses: shown[place]?.statuses ?? [],
      }),
    )
    yield { conversions, position: { day, lane, ref } }
  }
}

interface Row {
  readonly ref: string
  readonly activity: string
  readonly action: string
  readonly stage: Stage
  readonly failed: 0 | 1
}

const stages = ['accepted', 'delivered', 'displayed', 'clicked'] as const

function isReached(row: Row, stage: ReachedStage): boolean {
  return stage === 'failed' ? shownStage(row) === 'failed' : row.stage >= stages.indexOf(stage)
}

const shownStage = ({ stage, failed }: Row): Conversion['stage'] =>
  stage === 0 && failed === 1 ? 'failed' : (stages[stage] as Conversion['stage'])

const selectDay = statement<Row>('list_conversions', { day: 'bigint', lane: 'text', after: 'text', most: 'bigint' })`
  select c.ref, c.activity, c.action, c.stage, c.failed from conversions c
  where c.day = (select r.day from ${rows} r) and c.lane = (select r.lane from ${rows} r)
    and c.ref > (select r.after from ${rows} r)
  order by c.ref limit (select r.most from ${rows} r)`

const selectNextDay = statement<{ day: number | null }>({
  name: 'next_day_of_conversions',
  columns: { since: 'bigint', until: 'bigint' },
  text: (rows) => `
    select min(c.day) as day from conversions c
    where c.day >= (select r.since from ${rows} r) and c.day <= (select r.until from ${rows} r)`,
})

/** The days with conversions, ascending. */
async function readDays(lanes: readonly SelectedLane[], since: number, until: number): Promise<readonly number[]> {
  const days = new Set<number>()
  for (const database of new Set(lanes.map((lane) => lane.database)))
    for (let from = since; ; ) {
      const [next] = await database.read(op(selectNextDay, [[from, until]]))
      if (next === undefined || next.day === null) break
      days.add(next.day)
      from = next.day + 1
    }
  return [...days].sort((a, b) => a - b)
}
