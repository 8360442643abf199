// The proof of permission: for each message, sent or refused, what was known about its user and what decided. The row of the message
// has the times and the number of the basis; the table `permissions` has each distinct basis once (docs/people.md).

import { createHash } from 'node:crypto'
import type { Database, Migration, Op } from '../../base/store/database.ts'
import { op, rows, statement } from '../../base/store/statement.ts'
import type { Field } from '../attributes/attribute-source.ts'
import type { MessageRow } from './messages.ts'

/** What decided, besides a field. */
export const otherDecisions = [
  'nothing forbids it',
  'suppression.module allows it',
  'suppression.module refuses it',
  'suppression.module cannot answer',
  'the source cannot answer',
] as const

export type Decision = Field | (typeof otherDecisions)[number]

/** What was checked. It names no user, and an installation has few different ones. */
export interface Basis {
  /** The checked fields with the values of the user. Empty: the source could not answer. */
  readonly fields: Readonly<Partial<Record<Field, boolean>>>
  /** A service message (`suppression.exempt`): consent was not checked. */
  readonly exempt: boolean
  readonly source: string
  /** A field that forbade the message, or another decision. */
  readonly decided: Decision
}

export interface StoredBasis {
  /** The same in all processes and stores: the first 48 bits of the SHA-256 digest of the text. */
  readonly id: number
  /** JSON of the basis. */
  readonly text: string
}

/** The check that decided about one message. Times are epoch milliseconds. */
export interface Permission {
  readonly basis: StoredBasis
  /** The time when the source was asked, by the clock of this process. */
  readonly readAt: number
  /** The time of the source's data, by the clock of the source. Null: the source does not tell it. */
  readonly asOf: number | null
}

export const permissionMigrations: readonly Migration[] = [
  {
    name: 'permissions/1',
    statements: () => ['create table permissions (id bigint primary key, basis text not null)'],
    brandTables: [{ table: 'permissions', key: 'id' }],
  },
]

export function toStored(basis: Basis): StoredBasis {
  const text = JSON.stringify(basis)
  return { id: createHash('sha256').update(text).digest().readUIntBE(0, 6), text }
}

// In the order of their numbers: two processes that store the same ones must not deadlock.
const insertPermissions = statement('insert_permissions', { id: 'bigint', basis: 'text' })`
  insert into permissions (id, basis) select r.id, r.basis from ${rows} r where true order by r.id
  on conflict (id) do nothing`

/** The bases that this process knows to be stored. Nobody deletes them. */
const storedIn = new WeakMap<Database, Set<number>>()

/**
 * To be committed with the rows that name these bases. Nearly always without rows: a basis is stored once.
 *
 * @returns the operation, and a function to call when it is committed
 */
export function storeBases(database: Database, bases: readonly StoredBasis[]): readonly [Op, () => void] {
  const stored = storedIn.get(database) ?? new Set()
  storedIn.set(database, stored)
  const missing = [...new Set(bases)].filter(({ id }) => !stored.has(id))
  const rows = missing.map(({ id, text }) => [id, text])
  return [op(insertPermissions, rows), () => missing.forEach(({ id }) => void stored.add(id))]
}

/** Whether a message with this basis might be sent. */
export const isAllowed = ({ decided }: Basis): boolean =>
  decided === 'nothing forbids it' || decided === 'suppression.module allows it'

const selectPermissions = statement<{ id: number; basis: string }>('select_permissions', { id: 'bigint' })`
  select p.id, p.basis from ${rows} r join permissions p on p.id = r.id`

/** The bases with these numbers. */
export async function readBases(database: Database, ids: Iterable<number>): Promise<ReadonlyMap<number, Basis>> {
  const rows = [...new Set(ids)].map((id) => [id])
  const found = rows.length === 0 ? [] : await database.read(op(selectPermissions, rows))
  return new Map(found.map(({ id, basis }) => [id, JSON.parse(basis) as Basis]))
}

/** The check that decided about a message, with its basis. Null: no check took place. */
export async function readPermission(
  database: Database,
  {
    permission: id,
    permission_read_at: readAt,
    permission_as_of: asOf,
  }: Pick<MessageRow, 'permission' | 'permission_read_at' | 'permission_as_of'>,
) {
  if (id === null || readAt === null) return null
  const basis = (await readBases(database, [id])).get(id)
  return basis ? { ...basis, read_at: readAt, as_of: asOf } : null
}
