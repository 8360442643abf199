// A block and an exclusion protect a person. Whoever ends one needs a permission of its own and gives a reason.

import type { Database } from '../../../base/store/database.ts'
import { op, statement } from '../../../base/store/statement.ts'
import type { ReconciliationField as Field } from '../../../contract/records.ts'

export const protections = ['blocked', 'excluded'] as const satisfies readonly Field[]
type Protection = (typeof protections)[number]

const selectProtected = statement<
  { user_id: string } & Record<Protection, number | null> & Record<`${Protection}_at`, number | null>
>({
  name: 'read_protections',
  columns: { brand: 'text', user_id: 'text' },
  text: (rows) => `
    select u.user_id, ${protections.map((field) => `u.${field}, u.${field}_at`).join(', ')}
    from ${rows} r join crm_users u on u.brand = r.brand and u.user_id = r.user_id
    where ${protections.map((field) => `u.${field} = 1`).join(' or ')}`,
})

/** New values of a user, which changed at this time (epoch ms). */
interface NewValues {
  readonly userId: string
  readonly at: number
  readonly values: Readonly<Partial<Record<Field, boolean>>>
}

/** The users among these whose block or exclusion would end, with the fields. An older value ends nothing. */
export async function findLifted(
  database: Database,
  brand: string,
  users: readonly NewValues[],
): Promise<ReadonlyMap<string, readonly Protection[]>> {
  const freed = new Map(
    users
      .filter(({ values }) => protections.some((field) => values[field] === false))
      .map((user) => [user.userId, user]),
  )
  const rows = [...freed.keys()].map((userId) => [brand, userId])
  const lifted = new Map<string, readonly Protection[]>()
  for (const row of rows.length > 0 ? await database.read(op(selectProtected, rows)) : []) {
    const { values, at } = freed.get(row.user_id) as NewValues
    const fields = protections.filter(
      (field) => row[field] === 1 && values[field] === false && at >= (row[`${field}_at`] ?? 0),
    )
    if (fields.length > 0) lifted.set(row.user_id, fields)
  }
  return lifted
}
