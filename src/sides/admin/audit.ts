// The routes of the audit trail: a list for people, and the whole chain of each store for an auditor.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { Type } from 'typebox'
import type { AccessKey } from '../../base/http/access.ts'
import { HttpError } from '../../base/http/http-error.ts'
import { present } from '../../base/runtime/present.ts'
import { closedObject, limitOf, text, textOf, whole } from '../../contract/documents/described.ts'
import { readMoment } from '../../contract/moment.ts'
import { type AuditRow, createChainCheck, lineOf } from '../../subjects/audit/chain.ts'
import { listAudit, readAudit } from '../../subjects/audit/table.ts'
import type { AuditStore } from '../../subjects/audit/trail.ts'
import { AuditQuery, AuditVerification } from './requests.ts'
import { adminRoute } from './route.ts'
import { sendFile } from './send-file.ts'
import { isBrandVisible } from './visibility.ts'

const maxListed = 1_000

const Entry = Type.Object(
  {
    serial: whole('Its place in the chain of its store'),
    at: Type.String({ format: 'date-time' }),
    act: Type.String(),
    by: text('The name of the key; empty for unknown keys'),
    address: Type.Optional(text('The address of the caller')),
    brand: Type.Optional(Type.String()),
    user_digest: Type.Optional(text('The SHA-256 digest of `user_salt` and `user`')),
    lane: Type.Optional(Type.String()),
    given: Type.Optional(Type.Unknown({ description: 'What the request said: a filter, settings, amounts' })),
    count: Type.Optional(whole('The number of rows that the act selected')),
    old: Type.Optional(Type.Unknown({ description: 'The values before' })),
    new: Type.Optional(Type.Unknown({ description: 'The values after' })),
    reason: Type.Optional(Type.String()),
    digest: text('The SHA-256 digest of the digest before and of all members before this one'),
    user_salt: Type.Optional(text('Absent after the erasure of the person')),
    user: Type.Optional(text('Absent after the erasure of the person')),
    store: Type.String(),
  },
  { additionalProperties: true },
)

const CheckedChains = Type.Object({
  chains: Type.Array(
    Type.Object({
      store: text('The name of the chain'),
      entries: whole('The number of entries'),
      first: whole('The serial of the first entry'),
      last: whole('The serial of the last entry'),
      digest: text('The digest of the last entry: send it with the next verification as `expect`'),
    }),
  ),
  problems: Type.Array(
    Type.Object({
      store: text('The name of the chain'),
      serial: Type.Optional(whole('The entry at which the chain breaks')),
      problem: Type.String(),
    }),
    { description: 'The first 100. Empty: each chain is intact' },
  ),
  missing: Type.Array(Type.String(), { description: 'The expected digests that no entry of this side has' }),
})

export function auditRoutes(stores: readonly AuditStore[]) {
  return {
    list: adminRoute({
      says: 'Lists the entries of the audit trail, the newest first.',
      query: closedObject({
        ...AuditQuery.properties,
        limit: Type.Optional(limitOf(maxListed)),
        before: Type.Optional(text('The `next` of the previous page.')),
      }),
      gives: Type.Object({
        entries: Type.Array(Entry),
        next: Type.Optional(text('There may be more entries: send it as `before`')),
      }),
      refuses: { 400: 'The cursor cannot be read.' },
      async handler({ query: { limit = 100, before, since = '', until = '', ...filter } }, key) {
        if (key.brands && filter.brand === undefined) throw new HttpError(403, nameBrand(key))
        if (filter.brand !== undefined && !isBrandVisible(key, filter.brand)) throw new HttpError(403, nameBrand(key))
        const selected = { ...filter, ...present({ since: readMoment(since), until: readMoment(until) }) }
        const cursors = readCursor(before, stores.length)
        const pages = await Promise.all(
          stores.map(({ database }, i) => listAudit(database, selected, cursors[i] as number, limit)),
        )
        const rows = pages
          .flatMap((page, store) => page.map((row) => ({ row, store })))
          .sort((a, b) => b.row.at - a.row.at || b.row.serial - a.row.serial)
          .slice(0, limit)
        for (const { row, store } of rows) cursors[store] = row.serial
        return {
          entries: rows.map(({ row, store }) => shown(row, stores[store] as AuditStore)),
          ...(rows.length === limit && { next: cursors.join('.') }),
        }
      },
    }),
    verify: adminRoute({
      says: 'Computes the digests of all entries, and tells where a chain is broken.',
      query: AuditVerification,
      gives: CheckedChains,
      refuses: { 403: boundToBrands },
      async handler({ query: { expect } }, key) {
        demandAllBrands(key)
        const check = createChainCheck(expect?.split(','))
        for (const { name, database } of stores)
          for await (const page of readAudit(database)) {
            for (const row of page) check.addRow(row, name)
            await nextTurn()
          }
        return check.end()
      },
    }),
    exportChains: adminRoute({
      says: 'Returns all entries in the order of each chain, for `bellwire audit verify --file`.',
      files: textOf('application/x-ndjson', 'One entry per line, store by store'),
      refuses: { 403: boundToBrands },
      async handler(_request, key, reply) {
        demandAllBrands(key)
        return sendFile(reply, 'audit.ndjson', 'application/x-ndjson', writeChains(stores))
      },
    }),
  }
}

const boundToBrands = 'The key is bound to brands: a part of a chain cannot be verified.'

function demandAllBrands({ name, brands }: AccessKey): void {
  if (brands) throw new HttpError(403, `the key ${name} is bound to brands: a chain has the entries of all brands`)
}

const nameBrand = ({ name }: AccessKey): string =>
  `the key ${name} is bound to brands: name one of them in the filter as brand`

/** The entry as in the export. */
const shown = (row: AuditRow, { name }: AuditStore) => JSON.parse(lineOf(row, name))

/** The serial of each store before which the page begins. */
function readCursor(cursor: string | undefined, stores: number): number[] {
  if (cursor === undefined) return Array.from({ length: stores }, () => Number.MAX_SAFE_INTEGER)
  const serials = cursor.split('.').map(Number)
  if (serials.length !== stores || !serials.every(Number.isSafeInteger))
    throw new HttpError(400, 'before is not the `next` of a page: send it unchanged')
  return serials
}

async function* writeChains(stores: readonly AuditStore[]): AsyncGenerator<string> {
  for (const { name, database } of stores)
    for await (const page of readAudit(database)) yield page.map((row) => `${lineOf(row, name)}\n`).join('')
}
