// What the CRM holds of each user: the nine attributes of §2.5, each with the time of its last change. One row for each user.

import { type ReconciliationField as Field, reconciliationFields as fields } from '../../contract/records.ts'
import type { Database, Migration, Value } from '../../store/database.ts'
import { op, statement } from '../../store/statement.ts'

export { type Field, fields }

// A value is 1, 0, or null where nobody said; `<field>_at` is in epoch milliseconds and null with it. The comparison reads all
// who hold one field in the order of their ids, straight from this key.
export const crmMigrations: readonly Migration[] = [
  {
    name: 'crm/1',
    statements: ({ key, engine }) => [
      `create table crm_users (
        brand ${key} not null,
        user_id ${key} not null,
        ${fields.map((field) => `${field}_at bigint, ${field} smallint`).join(',\n        ')},
        primary key (brand, user_id)
      )${engine === 'sqlite' ? ' without rowid' : ''}`,
    ],
  },
]

/** What is said about one user. */
export interface UserAttributes {
  readonly userId: string
  /** When these became true or false, in epoch milliseconds. */
  readonly at: number
  readonly values: Readonly<Partial<Record<Field, boolean>>>
}

// A value that is known already keeps its time, so that importing a file again changes nothing; one that is older than what is
// there is not taken.
const changes = (field: Field): string =>
  `(excluded.${field} is not null and (crm_users.${field} is null
    or (crm_users.${field} <> excluded.${field} and excluded.${field}_at >= crm_users.${field}_at)))`
const newer = (field: Field, column: string): string =>
  `${column} = case when ${changes(field)} then excluded.${column} else crm_users.${column} end`

const putUsers = statement<{ user_id: string }>({
  name: 'put_crm_users',
  rank: 200,
  columns: {
    brand: 'text',
    user_id: 'text',
    at: 'bigint',
    ...(Object.fromEntries(fields.map((field) => [field, 'bigint'])) as Record<Field, 'bigint'>),
  },
  // It returns rows and has no route, so it is run for each caller by itself: one statement may not change a user twice.
  text: (rows) => `
    insert into crm_users (brand, user_id, ${fields.map((field) => `${field}, ${field}_at`).join(', ')})
    select r.brand, r.user_id, ${fields.map((field) => `r.${field}, case when r.${field} is null then null else r.at end`).join(', ')}
    from ${rows} r where true
    on conflict (brand, user_id) do update set
      ${fields.map((field) => `${newer(field, field)}, ${newer(field, `${field}_at`)}`).join(',\n      ')}
    where ${fields.map(changes).join(' or ')}
    returning user_id`,
})

/**
 * Puts what is said about these users, each of whom is named once.
 *
 * @returns how many users it changed
 */
export async function putCrmUsers(
  database: Database,
  brand: string,
  users: readonly UserAttributes[],
): Promise<number> {
  // In one order everywhere, so that two importers never wait for each other in a circle.
  const sorted = users.toSorted((a, b) => (a.userId < b.userId ? -1 : 1))
  const rows = sorted.map(({ userId, at, values }): Value[] => [
    brand,
    userId,
    at,
    ...fields.map((field) => (values[field] === undefined ? null : Number(values[field]))),
  ])
  const [changed] = await database.commit([op(putUsers, rows)])
  return changed.length
}

type UserRow = Record<`${Field}_at` | Field, number | null>

const readUser = statement<UserRow>({
  name: 'read_crm_user',
  rank: 0,
  columns: { brand: 'text', user_id: 'text' },
  text: (rows) => `
    select ${fields.map((field) => `u.${field}, u.${field}_at`).join(', ')}
    from ${rows} r join crm_users u on u.brand = r.brand and u.user_id = r.user_id`,
})

export type KnownAttributes = Readonly<Partial<Record<Field, { readonly value: boolean; readonly changed_at: string }>>>

/** @returns undefined for a user whom the CRM does not know */
export async function readCrmUser(
  database: Database,
  brand: string,
  userId: string,
): Promise<KnownAttributes | undefined> {
  const [row] = await database.read(op(readUser, [[brand, userId]]))
  if (!row) return undefined
  const known = fields.filter((field) => row[field] !== null)
  return Object.fromEntries(
    known.map((field) => [
      field,
      { value: row[field] === 1, changed_at: new Date(row[`${field}_at`] as number).toISOString() },
    ]),
  )
}
