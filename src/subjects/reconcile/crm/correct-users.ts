// Sets one attribute of many users, if the value has not changed since the comparison.

import type { Database, Statement } from '../../../base/store/database.ts'
import { op, rows, statement } from '../../../base/store/statement.ts'
import { canStoreUserId } from './read-line.ts'
import { type Field, fields } from './users.ts'

export interface AttributeCorrection {
  readonly brand: string
  readonly field: Field
  readonly value: boolean
  /** The new time of the change, in epoch milliseconds. */
  readonly at: number
}

export interface ComparedUser {
  readonly userId: string
  /** When the compared value had last changed. Null: the CRM had no value. */
  readonly comparedAt: number | null
}

/** @returns the changed users. The other users have another value by now, or an id that the CRM cannot store. */
export async function correctCrmUsers(
  database: Database,
  { brand, field, value, at }: AttributeCorrection,
  users: readonly ComparedUser[],
): Promise<ReadonlySet<string>> {
  const { update, insert } = statements[field]
  const storable = users
    .filter(({ userId }) => canStoreUserId(userId))
    .toSorted((a, b) => (a.userId < b.userId ? -1 : 1))
  const rows = storable.map(({ userId, comparedAt }) => [brand, userId, Number(value), at, comparedAt])
  const unknown = rows.filter(([, , , , comparedAt]) => comparedAt === null)
  const [updated, inserted] = await database.commit([op(update, rows), op(insert, unknown)])
  return new Set([...updated, ...inserted].map(({ user_id }) => user_id))
}

interface ChangedUser {
  readonly user_id: string
}

const columns = { brand: 'text', user_id: 'text', value: 'bigint', at: 'bigint', seen_at: 'bigint' } as const

function createStatements(field: Field): { update: Statement<ChangedUser>; insert: Statement<ChangedUser> } {
  return {
    // Compares the time and the value: the value may have changed twice within a millisecond.
    update: statement<ChangedUser>(`correct_${field}`, columns)`
      update crm_users set ${field} = r.value, ${field}_at = r.at from ${rows} r
      where crm_users.brand = r.brand and crm_users.user_id = r.user_id
        and coalesce(crm_users.${field}_at, 0) = coalesce(r.seen_at, 0) and coalesce(crm_users.${field}, 0) <> r.value
      returning crm_users.user_id`,
    insert: statement<ChangedUser>(`correct_unknown_${field}`, columns)`
      insert into crm_users (brand, user_id, ${field}, ${field}_at)
      select r.brand, r.user_id, r.value, r.at from ${rows} r where true
      on conflict (brand, user_id) do nothing returning user_id`,
  }
}

const statements = Object.fromEntries(fields.map((field) => [field, createStatements(field)])) as Readonly<
  Record<Field, ReturnType<typeof createStatements>>
>
