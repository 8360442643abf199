// The CRM's users: one row each, with the nine attributes of §2.5 and the time of the last change of each attribute.

import { readPages } from '../../../base/runtime/read-pages.ts'
import type { Database, Migration, Op, Value } from '../../../base/store/database.ts'
import { op, rows, statement } from '../../../base/store/statement.ts'
import { type ReconciliationField as Field, reconciliationFields as fields } from '../../../contract/records.ts'
import { protections } from './protections.ts'

export { type Field, fields }

// A value is 1, 0, or null if it is unknown. `<field>_at` is in epoch milliseconds, and null if the value is null. The comparison
// reads the users of a field in the order of the primary key.
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
    brandTables: [{ table: 'crm_users', brand: 'brand' }],
  },
]

/** Attributes of one user that changed at the same time. */
export interface UserAttributes {
  readonly userId: string
  /** The time of the change, in epoch milliseconds. */
  readonly at: number
  readonly values: Readonly<Partial<Record<Field, boolean>>>
}

/** @param mayLift whether a block or an exclusion may end */
function upsertText(rows: string, mayLift: boolean): string {
  // An equal value keeps its stored time, so that importing a file again changes nothing. An older value is ignored.
  const isChanged = (field: Field): string => {
    const isLifted = `crm_users.${field} = 1 and excluded.${field} = 0`
    const isKept = mayLift || !(protections as readonly string[]).includes(field) ? '' : ` and not (${isLifted})`
    return `(excluded.${field} is not null and (crm_users.${field} is null
      or (crm_users.${field} <> excluded.${field} and excluded.${field}_at >= crm_users.${field}_at${isKept})))`
  }
  const newValue = (field: Field, column: string): string =>
    `${column} = case when ${isChanged(field)} then excluded.${column} else crm_users.${column} end`
  return `
    insert into crm_users (brand, user_id, ${fields.map((field) => `${field}, ${field}_at`).join(', ')})
    select r.brand, r.user_id, ${fields.map((field) => `r.${field}, case when r.${field} is null then null else r.at end`).join(', ')}
    from ${rows} r where true
    on conflict (brand, user_id) do update set
      ${fields.map((field) => `${newValue(field, field)}, ${newValue(field, `${field}_at`)}`).join(',\n      ')}
    where ${fields.map(isChanged).join(' or ')}
    returning user_id`
}

const upsertColumns = {
  brand: 'text',
  user_id: 'text',
  at: 'bigint',
  ...(Object.fromEntries(fields.map((field) => [field, 'bigint'])) as Record<Field, 'bigint'>),
} as const

// The statements have no route, so they run separately for each caller: a statement must not change a user twice.
const upsertUsers = statement<{ user_id: string }>('upsert_crm_users', upsertColumns)`${upsertText(rows, false)}`

const liftUsers = statement<{ user_id: string }>('lift_crm_users', upsertColumns)`${upsertText(rows, true)}`

export interface UpsertOptions {
  /** Operations for the same commit. */
  readonly also?: readonly Op[]
  /** A block or an exclusion may end. Default: such a value is not changed. */
  readonly mayLift?: boolean
}

/** Inserts or updates users. Each user may occur once. @returns how many users changed */
export async function upsertCrmUsers(
  database: Database,
  brand: string,
  users: readonly UserAttributes[],
  { also = [], mayLift = false }: UpsertOptions = {},
): Promise<number> {
  // A fixed order, so that two imports never deadlock.
  const sorted = users.toSorted((a, b) => (a.userId < b.userId ? -1 : 1))
  const rows = sorted.map(({ userId, at, values }): Value[] => [
    brand,
    userId,
    at,
    ...fields.map((field) => (values[field] === undefined ? null : Number(values[field]))),
  ])
  const [changed] = await database.commit([op(mayLift ? liftUsers : upsertUsers, rows), ...also])
  return changed.length
}

/** Deletes a user whose attributes have not changed since this time. */
export const eraseUser = statement<{ user_id: string }>({
  name: 'erase_crm_user',
  columns: { brand: 'text', user_id: 'text', at: 'bigint' },
  route: 'user_id',
  text: (rows) => `
    delete from crm_users where (brand, user_id) in (
      select u.brand, u.user_id from ${rows} r join crm_users u on u.brand = r.brand and u.user_id = r.user_id
      where ${fields.map((field) => `coalesce(u.${field}_at, 0) <= r.at`).join(' and ')})
    returning user_id`,
})

type UserRow = Record<`${Field}_at` | Field, number | null>

const readUser = statement<UserRow>('read_crm_user', { brand: 'text', user_id: 'text' })`
  select ${fields.map((field) => `u.${field}, u.${field}_at`).join(', ')}
  from ${rows} r join crm_users u on u.brand = r.brand and u.user_id = r.user_id`

export type CrmAttributes = Readonly<Partial<Record<Field, { readonly value: boolean; readonly changed_at: string }>>>

/** @returns undefined for a user that the CRM does not have */
export async function readCrmUser(
  database: Database,
  brand: string,
  userId: string,
): Promise<CrmAttributes | undefined> {
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

const readUsers = statement<{ user_id: string } & Record<Field, number | null>>({
  name: 'read_crm_users',
  columns: { brand: 'text', user_id: 'text' },
  text: (rows) => `
    select u.user_id, ${fields.map((field) => `u.${field}`).join(', ')}
    from ${rows} r join crm_users u on u.brand = r.brand and u.user_id = r.user_id`,
})

/** For each field, the users among `userIds` for whom it is true. */
export async function findUsersWith(
  database: Database,
  brand: string,
  userIds: readonly string[],
  wanted: readonly Field[],
): Promise<ReadonlyMap<Field, ReadonlySet<string>>> {
  const rows = userIds.map((userId) => [brand, userId])
  const users = await database.read(op(readUsers, rows))
  return new Map(
    wanted.map((field) => [field, new Set(users.flatMap((user) => (user[field] === 1 ? [user.user_id] : [])))]),
  )
}

const readExcluded = statement<{ user_id: string; excluded: number | null; excluded_at: number | null }>({
  name: 'read_excluded_crm_users',
  columns: { brand: 'text', after: 'text', most: 'bigint' },
  text: (rows) => `
    select u.user_id, u.excluded, u.excluded_at from crm_users u
    where u.brand = (select r.brand from ${rows} r) and u.user_id > (select r.after from ${rows} r)
    order by u.user_id limit (select r.most from ${rows} r)`,
})

const pageUsers = 5_000

/** The excluded users of a brand, with the times of their exclusions (epoch ms). */
export async function readExcludedUsers(database: Database, brand: string): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>()
  const pages = readPages('user_id', '', pageUsers, (after) =>
    database.read(op(readExcluded, [[brand, after, pageUsers]])),
  )
  for await (const page of pages)
    for (const { user_id: user, excluded, excluded_at: at } of page) if (excluded === 1) found.set(user, at ?? 0)
  return found
}
