// Setting one attribute of many users, each only if it is still what was seen.

import type { Database, Statement } from '../../store/database.ts'
import { op, statement } from '../../store/statement.ts'
import { isKept } from './read-line.ts'
import { type Field, fields } from './users.ts'

export interface Correction {
  readonly brand: string
  readonly field: Field
  readonly value: boolean
  /** Becomes the time of the change, in epoch milliseconds. */
  readonly at: number
}

export interface Seen {
  readonly userId: string
  /** When the value had last changed; null: there was none. */
  readonly seenAt: number | null
}

/** @returns who was changed; the others have another value by now, or an id that the CRM cannot keep */
export async function correctCrmUsers(
  database: Database,
  { brand, field, value, at }: Correction,
  users: readonly Seen[],
): Promise<ReadonlySet<string>> {
  const { update, insert } = statements[field]
  const kept = users.filter(({ userId }) => isKept(userId)).toSorted((a, b) => (a.userId < b.userId ? -1 : 1))
  const rows = kept.map(({ userId, seenAt }) => [brand, userId, Number(value), at, seenAt])
  const unknown = rows.filter(([, , , , seenAt]) => seenAt === null)
  const [updated, inserted] = await database.commit([op(update, rows), op(insert, unknown)])
  return new Set([...updated, ...inserted].map(({ user_id }) => user_id))
}

interface Changed {
  readonly user_id: string
}

const columns = { brand: 'text', user_id: 'text', value: 'bigint', at: 'bigint', seen_at: 'bigint' } as const

function statementsOf(field: Field): { update: Statement<Changed>; insert: Statement<Changed> } {
  return {
    // The value as well as its time: two changes within a millisecond must not pass for none.
    update: statement<Changed>({
      name: `correct_${field}`,
      rank: 201,
      columns,
      text: (rows) => `
        update crm_users set ${field} = r.value, ${field}_at = r.at from ${rows} r
        where crm_users.brand = r.brand and crm_users.user_id = r.user_id
          and coalesce(crm_users.${field}_at, 0) = coalesce(r.seen_at, 0) and coalesce(crm_users.${field}, 0) <> r.value
        returning crm_users.user_id`,
    }),
    insert: statement<Changed>({
      name: `correct_unknown_${field}`,
      rank: 202,
      columns,
      text: (rows) => `
        insert into crm_users (brand, user_id, ${field}, ${field}_at)
        select r.brand, r.user_id, r.value, r.at from ${rows} r where true
        on conflict (brand, user_id) do nothing returning user_id`,
    }),
  }
}

const statements = Object.fromEntries(fields.map((field) => [field, statementsOf(field)])) as Readonly<
  Record<Field, ReturnType<typeof statementsOf>>
>
