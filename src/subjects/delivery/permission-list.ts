// The messages of a brand with the checks that decided about them, in the order of their arrival, page by page.

import { firstUuidv7 } from '../../base/runtime/ids.ts'
import { readPages } from '../../base/runtime/read-pages.ts'
import type { Database } from '../../base/store/database.ts'
import { op, rows, statement } from '../../base/store/statement.ts'
import type { MessageRow } from './messages.ts'
import { type Basis, readBases } from './permission.ts'

type Row = Pick<
  MessageRow,
  | 'key'
  | 'user_id'
  | 'ref'
  | 'state'
  | 'uncertain'
  | 'updated_at'
  | 'permission'
  | 'permission_read_at'
  | 'permission_as_of'
>

export interface CheckedMessage extends Row {
  /** Undefined: no check took place. */
  readonly basis: Basis | undefined
}

// By the index of the identifiers, which begin with the time of arrival. `|| ''` excludes the other indexes with the brand.
const selectPage = statement<Row>('list_permissions', { brand: 'text', after: 'text', before: 'text', most: 'bigint' })`
  select m.key, m.user_id, m.ref, m.state, m.uncertain, m.updated_at, m.permission, m.permission_read_at, m.permission_as_of
  from messages m
  where m.ref > (select r.after from ${rows} r) and m.ref < (select r.before from ${rows} r)
    and m.brand || '' = (select r.brand from ${rows} r)
  order by m.ref limit (select r.most from ${rows} r)`

const pageMessages = 1_000

/** The messages that arrived from one time until before another (epoch ms). */
export async function* readPermissions(
  database: Database,
  brand: string,
  { from, to }: { readonly from: number; readonly to: number },
): AsyncGenerator<readonly CheckedMessage[]> {
  const bases = new Map<number, Basis>()
  const read = (after: string) => database.read(op(selectPage, [[brand, after, firstUuidv7(to), pageMessages]]))
  for await (const page of readPages('ref', firstUuidv7(from), pageMessages, read)) {
    const unknown = page.flatMap(({ permission }) => (permission === null || bases.has(permission) ? [] : [permission]))
    for (const [id, basis] of await readBases(database, unknown)) bases.set(id, basis)
    yield page.map((row) => ({ ...row, basis: row.permission === null ? undefined : bases.get(row.permission) }))
  }
}
