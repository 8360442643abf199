// The table `audit`: who did or saw what, when and from where. Rows are only inserted, in the commit of the act. Retention deletes
// the oldest, and the erasure of a person the user ids. The order of a commit decides the chain of digests (chain.ts), so the database computes them.

import { clock } from '../../base/runtime/clock.ts'
import { random } from '../../base/runtime/random.ts'
import { readPages } from '../../base/runtime/read-pages.ts'
import type { Database, Migration, Op } from '../../base/store/database.ts'
import { op, rows, statement } from '../../base/store/statement.ts'
import { type AuditRow, contentOf, type Forgotten, forgetAct, sha256 } from './chain.ts'

// On SQLite, sqlite.ts defines the two functions.
export const auditMigrations: readonly Migration[] = [
  {
    name: 'audit/1',
    statements: ({ engine, key }) => [
      `create table audit (
        serial ${engine === 'sqlite' ? 'integer' : 'bigint'} primary key, at bigint not null, act text not null, by text not null,
        address text, brand text, user_id text, user_salt text, user_digest text, details text, digest ${key} not null
      )`,
      'create index audit_by_user on audit (user_id, serial) where user_id is not null',
      ...(engine === 'sqlite'
        ? []
        : [
            `create function sha256_hex(given text) returns text language sql immutable as
               $$ select encode(sha256(convert_to(given, 'UTF8')), 'hex') $$`,
            `create function lock_audit() returns integer language sql as
               $$ select pg_advisory_xact_lock(hashtextextended('audit ' || current_schema(), 0)); select 1 $$`,
          ]),
    ],
  },
]

/** The details of an act. All are optional. */
export interface AuditDetails {
  readonly brand?: string | undefined
  readonly user?: string | undefined
  readonly lane?: string | undefined
  /** What the request said: the filter of a selection, settings, amounts. */
  readonly given?: unknown
  /** The number of rows that the act selected. */
  readonly count?: number | undefined
  readonly old?: unknown
  readonly new?: unknown
  readonly reason?: string | undefined
}

export interface NewAuditEntry extends AuditDetails, Partial<Forgotten> {
  readonly act: string
  /** The name of the key, or of the person. */
  readonly by: string
  readonly address?: string | undefined
}

// PostgreSQL: the lock is a statement of its own, so that the next one sees the entries of the holder before. It is released at the
// end of the transaction.
const lockAudit = statement('lock_audit', {})`select lock_audit() as locked`

// Each step of the chain finds its content by its place in a list. With a join, each step would visit all rows of the commit.
const insertAudit = statement('insert_audit', {
  at: 'bigint',
  act: 'text',
  by: 'text',
  address: 'text',
  brand: 'text',
  user_id: 'text',
  user_salt: 'text',
  user_digest: 'text',
  details: 'text',
  content: 'text',
})`
  with recursive latest as (select a.serial, a.digest from audit a order by a.serial desc limit 1),
  head as (select coalesce((select l.serial from latest l), 0) as serial, coalesce((select l.digest from latest l), '') as digest),
  numbered as (select row_number() over (order by r.at) as place, r.* from ${rows} r),
  chained (place, digest) as (
    select 0, h.digest from head h
    union all
    select c.place + 1, sha256_hex(
      c.digest || '{"serial":' || ((select h.serial from head h) + c.place + 1) || ',' ||
      ((select jsonb_agg(n.content order by n.place) from numbered n) ->> c.place))
    from chained c where c.place < (select count(*) from numbered))
  insert into audit (serial, at, act, by, address, brand, user_id, user_salt, user_digest, details, digest)
  select h.serial + n.place, n.at, n.act, n.by, n.address, n.brand, n.user_id, n.user_salt, n.user_digest, n.details,
    (select jsonb_agg(c.digest order by c.place) from chained c) ->> cast(n.place as integer)
  from numbered n cross join head h`

/** The operations that store entries. Commit them with the act. */
export function auditOps(entries: readonly NewAuditEntry[]): readonly Op[] {
  const at = clock.now()
  const rows = entries.map(({ act, by, address = null, brand = null, user = null, ...rest }) => {
    const text = JSON.stringify(rest)
    const details = text === '{}' ? null : text
    const salt = user === null ? null : random.bytes(16).toString('base64url')
    const user_digest = user === null ? null : sha256(salt + user)
    const content = contentOf({ at, act, by, address, brand, user_digest, details })
    return [at, act, by, address, brand, user, salt, user_digest, details, content]
  })
  return [op(lockAudit, [[]]), op(insertAudit, rows)]
}

/**
 * Forgets the user of the entries up to this time (epoch ms), also of those that name no brand. The chain keeps the digest of the
 * user, of which nobody can guess the user without the salt.
 */
export const eraseUser = statement<{ serial: number }>({
  name: 'erase_audit_user',
  columns: { brand: 'text', user_id: 'text', at: 'bigint' },
  text: (rows) => `
    update audit set user_id = null, user_salt = null from ${rows} r
    where audit.user_id = r.user_id and audit.at <= r.at
      and (audit.brand = r.brand or audit.brand is null)
    returning audit.serial as serial`,
})

const columns =
  'a.serial, a.at, a.act, a.by, a.address, a.brand, a.user_id, a.user_salt, a.user_digest, a.details, a.digest'

/** A filter of entries. */
export interface AuditFilter {
  readonly act?: string | undefined
  readonly by?: string | undefined
  readonly brand?: string | undefined
  readonly user?: string | undefined
  /** Epoch milliseconds. */
  readonly since?: number | undefined
  readonly until?: number | undefined
}

const filterColumns = {
  act: 'text',
  by: 'text',
  brand: 'text',
  since: 'bigint',
  until: 'bigint',
  serial: 'bigint',
  most: 'bigint',
} as const
const isMatching = `(r.act is null or a.act = r.act) and (r.by is null or a.by = r.by) and (r.brand is null or a.brand = r.brand)
  and (r.since is null or a.at >= r.since) and (r.until is null or a.at < r.until)`

const selectBefore = statement<AuditRow>('list_audit', filterColumns)`
  select ${columns} from ${rows} r join audit a on a.serial < r.serial and ${isMatching}
  order by a.serial desc limit (select r.most from ${rows} r)`

const selectOfUser = statement<AuditRow>('list_audit_of_user', { ...filterColumns, user_id: 'text' })`
  select ${columns} from ${rows} r join audit a on a.user_id = r.user_id and a.serial < r.serial and ${isMatching}
  order by a.serial desc limit (select r.most from ${rows} r)`

/** The matching entries before this serial, the newest first. */
export function listAudit(
  database: Database,
  { act, by, brand, user, since, until }: AuditFilter,
  before: number,
  limit: number,
): Promise<readonly AuditRow[]> {
  const row = [act ?? null, by ?? null, brand ?? null, since ?? null, until ?? null, before, limit]
  return database.read(user === undefined ? op(selectBefore, [row]) : op(selectOfUser, [[...row, user]]))
}

const selectAfter = statement<AuditRow>('read_audit', { serial: 'bigint', most: 'bigint' })`
  select ${columns} from audit a where a.serial > (select r.serial from ${rows} r)
  order by a.serial limit (select r.most from ${rows} r)`

const pageRows = 2_000

/** All entries in the order of their serials, page by page. */
export const readAudit = (database: Database): AsyncGenerator<readonly AuditRow[]> =>
  readPages('serial', 0, pageRows, (after) => database.read(op(selectAfter, [[after, pageRows]])))

const deleteThrough = statement('forget_audit', { serial: 'bigint' })`
  delete from audit where serial <= (select max(r.serial) from ${rows} r)`

const dayMs = 86_400_000
const forgetRows = 5_000

/**
 * Deletes a bounded number of entries from before the UTC day of `before` (epoch ms), so that each day has few deletions. The commit
 * also stores an entry with the digest of the last deleted one: the chain of the others can still be verified.
 */
export async function forgetAudit(database: Database, before: number): Promise<number> {
  const day = Math.floor(before / dayMs) * dayMs
  const oldest = await database.read(op(selectAfter, [[0, forgetRows]]))
  const end = oldest.findIndex(({ at }) => at >= day)
  const old = end < 0 ? oldest : oldest.slice(0, end)
  const last = old.at(-1)
  if (!last) return 0
  const forgotten: Forgotten = { through: last.serial, through_digest: last.digest }
  const entry = { act: forgetAct, by: 'retention', count: old.length, ...forgotten }
  await database.commit([...auditOps([entry]), op(deleteThrough, [[last.serial]])])
  return old.length
}
