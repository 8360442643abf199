// Compares the lists of operator and CRM exactly, as sets in the database: users that only one of them has.

import { readPages } from '../../base/runtime/read-pages.ts'
import type { Scratch } from '../../base/store/scratch.ts'
import type { ReconciliationField as Field } from '../../contract/records.ts'
import { shown } from '../../contract/shown.ts'
import { AnswerRefused } from './answer-refused.ts'
import type { Direction } from './severity.ts'

export interface ComparisonInput {
  /** Its table `answer` contains the operator's ids. */
  readonly scratch: Scratch
  readonly brand: string
  readonly field: Field
  /** The number of ids from the operator. */
  readonly ids: number
  /** Changes of the CRM after this time, in epoch milliseconds, are too recent to judge. */
  readonly judgedUntil: number
  /** The direction whose differences are listed first. */
  readonly first: Direction
}

export interface Comparison {
  /** The number of users for whom the field is true in the CRM. */
  readonly crmUsers: number
  readonly operatorOnly: number
  readonly crmOnly: number
  readonly tooRecent: number
}

/** A user on whom operator and CRM differ. */
export interface Difference {
  /** Increasing, with gaps. */
  readonly n: number
  readonly userId: string
  readonly direction: Direction
  /** When the CRM's value last changed. Null: the CRM has no value. */
  readonly crmAt: number | null
}

const pageRows = 5_000

export async function countCrmUsers(scratch: Scratch, brand: string, field: Field): Promise<number> {
  const [counted] = await scratch.run<{ n: number }>(
    `select count(*) as n from crm_users where brand = $1 and ${field} = 1`,
    [brand],
  )
  return counted?.n as number
}

/** Compares one snapshot of the CRM, regardless of concurrent writes. @throws AnswerRefused if an id occurs twice */
export async function compareLists(input: ComparisonInput): Promise<Comparison> {
  const { scratch, brand, field, judgedUntil } = input
  await scratch.run(scratch.engine === 'sqlite' ? 'begin' : 'begin isolation level repeatable read')
  await scratch.run(
    `create temporary table found (
      n ${scratch.engine === 'sqlite' ? 'integer' : 'bigint generated always as identity'} primary key,
      user_id text not null, operator integer not null)`,
  )
  if (scratch.engine === 'sqlite') await mergeEachDirection(input)
  else await joinLists(input)

  const found = await scratch.run<{ operator: number; n: number }>(
    'select operator, count(*) as n from found group by operator',
  )
  const crmUsers = await countCrmUsers(scratch, brand, field)
  await refuseRepeatedIds(input, crmUsers, found)

  await scratch.run(
    `create temporary table judged (n bigint primary key, user_id text not null, operator integer not null, crm_at bigint)`,
  )
  await scratch.run(
    `insert into judged (n, user_id, operator, crm_at)
     select f.n, f.user_id, f.operator, c.${field}_at
     from found f left join crm_users c on c.brand = $1 and c.user_id = f.user_id
     where coalesce(c.${field}_at, 0) <= $2 order by f.n`,
    [brand, judgedUntil],
  )
  await scratch.run('commit')
  const judged = await scratch.run<{ operator: number; n: number }>(
    'select operator, count(*) as n from judged group by operator',
  )
  const [operatorOnly, crmOnly] = [countOf(judged, 1), countOf(judged, 0)]
  return { crmUsers, operatorOnly, crmOnly, tooRecent: countOf(found, 1) + countOf(found, 0) - operatorOnly - crmOnly }
}

/** Reads the differences that compareLists() found, in pages, in the order of `first`. */
export function readDifferences(scratch: Scratch): AsyncGenerator<readonly Difference[]> {
  const query = `
    select n, user_id as "userId", case operator when 1 then 'operator_only' else 'crm_only' end as direction, crm_at as "crmAt"
    from judged where n > $1 order by n limit ${pageRows}`
  return readPages('n', 0, pageRows, (after) => scratch.run<Difference>(query, [after]))
}

const selectCrmUsers = (field: Field): string => `select user_id from crm_users where brand = $1 and ${field} = 1`

/** On SQLite both lists are sorted, so EXCEPT with ORDER BY is a merge: one pass for each direction. */
async function mergeEachDirection({ scratch, brand, field, first }: ComparisonInput): Promise<void> {
  const selects = {
    operator_only: `select user_id, 1 from (select text as user_id from answer except ${selectCrmUsers(field)} order by 1)`,
    crm_only: `select user_id, 0 from (${selectCrmUsers(field)} except select text from answer order by 1)`,
  }
  const order: readonly Direction[] =
    first === 'operator_only' ? ['operator_only', 'crm_only'] : ['crm_only', 'operator_only']
  for (const direction of order)
    await scratch.run(`insert into found (user_id, operator) ${selects[direction]}`, [brand])
}

/** PostgreSQL's fastest exact comparison is a full hash join (measured: EXCEPT in both directions takes twice as long). */
async function joinLists({ scratch, brand, field, first }: ComparisonInput): Promise<void> {
  await scratch.run(
    `insert into found (user_id, operator)
     select coalesce(a.text, c.user_id), case when a.text is null then 0 else 1 end
     from answer a full join (${selectCrmUsers(field)}) c on c.user_id = a.text
     where a.text is null or c.user_id is null
     order by 2 ${first === 'operator_only' ? 'desc' : 'asc'}, 1`,
    [brand],
  )
  // Without statistics PostgreSQL would plan the next queries for a large table.
  await scratch.run('analyze found')
}

/**
 * Refuses a list that contains an id twice. On SQLite, `answer` has each id once. On PostgreSQL the join shows repeated ids: the CRM
 * has each user once, so the number of matched ids must equal the number of matched CRM users.
 */
async function refuseRepeatedIds(
  { scratch, ids }: ComparisonInput,
  crmUsers: number,
  found: readonly { operator: number; n: number }[],
): Promise<void> {
  if (scratch.engine === 'sqlite') {
    const [distinct] = await scratch.run<{ n: number }>('select count(*) as n from answer')
    if (distinct?.n === ids) return
  } else {
    const matched = ids - countOf(found, 1)
    const repeatedUnmatched = await scratch.run(
      'select 1 from found where operator = 1 group by user_id having count(*) > 1 limit 1',
    )
    if (matched === crmUsers - countOf(found, 0) && repeatedUnmatched.length === 0) return
  }
  const examples = await scratch.repeated('answer')
  throw new AnswerRefused('repeated', `${examples.map((id) => shown(id)).join(', ')} and perhaps other ids occur twice`)
}

function countOf(counts: readonly { operator: number; n: number }[], operator: number): number {
  return counts.find((each) => each.operator === operator)?.n ?? 0
}
