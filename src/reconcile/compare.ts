// The exact comparison, inside the database engine: what only the operator has, what only the CRM has. Everything is a set.

import type { ReconciliationField as Field } from '../contract/records.ts'
import { shown } from '../contract/shown.ts'
import type { Scratch } from '../store/scratch.ts'
import { Refused } from './refusal.ts'
import type { Direction } from './severity.ts'

export interface Comparing {
  /** Into whose table `answer` the operator's ids were loaded. */
  readonly scratch: Scratch
  readonly brand: string
  readonly field: Field
  /** How many ids the operator sent. */
  readonly ids: number
  /** What the CRM changed after this time, in epoch milliseconds, is too recent to judge. */
  readonly judgedUntil: number
  /** Listed first. */
  readonly first: Direction
}

export interface Comparison {
  /** Who holds the field in the CRM. */
  readonly crmUsers: number
  readonly operatorOnly: number
  readonly crmOnly: number
  readonly tooRecent: number
}

/** A user of whom the two say different things. */
export interface Difference {
  /** Increasing; with gaps. */
  readonly n: number
  readonly userId: string
  readonly direction: Direction
  /** When the CRM's value last changed; null: it never had one. */
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

/** One state of the CRM is compared, whatever is written meanwhile. @throws Refused when an id came twice */
export async function compare(comparing: Comparing): Promise<Comparison> {
  const { scratch, brand, field, judgedUntil } = comparing
  await scratch.run(scratch.engine === 'sqlite' ? 'begin' : 'begin isolation level repeatable read')
  await scratch.run(
    `create temporary table found (
      n ${scratch.engine === 'sqlite' ? 'integer' : 'bigint generated always as identity'} primary key,
      user_id text not null, operator integer not null)`,
  )
  if (scratch.engine === 'sqlite') await mergeBothWays(comparing)
  else await joinOnce(comparing)

  const found = await scratch.run<{ operator: number; n: number }>(
    'select operator, count(*) as n from found group by operator',
  )
  const crmUsers = await countCrmUsers(scratch, brand, field)
  await refuseRepeated(comparing, crmUsers, found)

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

/** What compare() found, in pages, the worse direction first. */
export async function* differences(scratch: Scratch): AsyncGenerator<readonly Difference[]> {
  for (let after = 0; ; ) {
    const page = await scratch.run<{ n: number; user_id: string; operator: number; crm_at: number | null }>(
      `select n, user_id, operator, crm_at from judged where n > $1 order by n limit ${pageRows}`,
      [after],
    )
    if (page.length === 0) return
    yield page.map(({ n, user_id, operator, crm_at }) => ({
      n,
      userId: user_id,
      direction: operator === 1 ? 'operator_only' : 'crm_only',
      crmAt: crm_at,
    }))
    after = page.at(-1)?.n as number
  }
}

const holders = (field: Field): string => `select user_id from crm_users where brand = $1 and ${field} = 1`

/** Both sides lie in order: SQLite goes through them side by side (EXCEPT with ORDER BY is a merge), once for each direction. */
async function mergeBothWays({ scratch, brand, field, first }: Comparing): Promise<void> {
  const ways = {
    operator_only: `select user_id, 1 from (select text as user_id from answer except ${holders(field)} order by 1)`,
    crm_only: `select user_id, 0 from (${holders(field)} except select text from answer order by 1)`,
  }
  const order: readonly Direction[] =
    first === 'operator_only' ? ['operator_only', 'crm_only'] : ['crm_only', 'operator_only']
  for (const way of order) await scratch.run(`insert into found (user_id, operator) ${ways[way]}`, [brand])
}

/** PostgreSQL has both in one pass: a full join by hash is its fastest exact way (measured: EXCEPT both ways takes twice as long). */
async function joinOnce({ scratch, brand, field, first }: Comparing): Promise<void> {
  await scratch.run(
    `insert into found (user_id, operator)
     select coalesce(a.text, c.user_id), case when a.text is null then 0 else 1 end
     from answer a full join (${holders(field)}) c on c.user_id = a.text
     where a.text is null or c.user_id is null
     order by 2 ${first === 'operator_only' ? 'desc' : 'asc'}, 1`,
    [brand],
  )
  // Without statistics it would be taken for a large table in what follows.
  await scratch.run('analyze found')
}

/**
 * A list with an id twice is refused. On SQLite the loading has counted. On PostgreSQL the join tells for nothing: the CRM has
 * each user once, so the ids that were matched must be as many as the CRM's users that were.
 */
async function refuseRepeated(
  { scratch, ids }: Comparing,
  crmUsers: number,
  found: readonly { operator: number; n: number }[],
): Promise<void> {
  if (scratch.engine === 'sqlite') {
    const [distinct] = await scratch.run<{ n: number }>('select count(*) as n from answer')
    if (distinct?.n === ids) return
  } else {
    const matched = ids - countOf(found, 1)
    const among = await scratch.run(
      'select 1 from found where operator = 1 group by user_id having count(*) > 1 limit 1',
    )
    if (matched === crmUsers - countOf(found, 0) && among.length === 0) return
  }
  const which = await scratch.repeated('answer')
  throw new Refused('repeated', `${which.map((id) => shown(id)).join(', ')} and perhaps others are there twice`)
}

function countOf(counts: readonly { operator: number; n: number }[], operator: number): number {
  return counts.find((each) => each.operator === operator)?.n ?? 0
}
