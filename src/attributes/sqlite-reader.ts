// The process that reads the operator's SQLite file: queries run inside SQLite, which nobody can interrupt, so they run where
// they hold up nobody and can be killed. Started by sqlite.ts; its argument is the file.

import { isUtf8 } from 'node:buffer'
import { statSync, writeSync } from 'node:fs'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { pages } from './sqlite-pages.ts'
import type { AskedToList, AskedToLook, Part, Told } from './sqlite-questions.ts'

const file = process.argv[2] ?? ''
const busyMs = 2_000

let open:
  | { readonly db: DatabaseSync; readonly inode: number; readonly statements: Map<string, StatementSync> }
  | undefined

/** A file that was replaced by another is opened anew: the old one would go on answering. */
function current(): NonNullable<typeof open> {
  const { ino: inode } = statSync(file)
  if (open?.inode === inode) return open
  open?.db.close()
  open = { db: new DatabaseSync(file, { readOnly: true, timeout: busyMs }), inode, statements: new Map() }
  return open
}

function prepared(text: string): StatementSync {
  const { db, statements } = current()
  const statement = statements.get(text) ?? db.prepare(text)
  statements.set(text, statement)
  return statement
}

function look({ look, users, parts, asOf, maxLagMs }: AskedToLook): Told {
  if (asOf !== undefined && maxLagMs !== undefined) refuseOld(asOf, maxLagMs)
  // A column without a type holds numbers as numbers: asked for both ways, compared as written.
  const ids = JSON.stringify(users.flatMap((user) => (isInteger(user) ? [user, Number(user)] : [user])))
  const found = parts.flatMap(({ field, query }) => {
    checkColumns({ field, query })
    const statement = prepared(
      `with q(id) as (${query}\n) select json_quote(cast(id as text)) as user from q where id in (select value from json_each(?))`,
    )
    // As JSON: older Nodes cut a text at U+0000.
    return statement.all(ids).map((row) => ({ field, user: JSON.parse(String(row.user)) as string }))
  })
  return { look, found }
}

function isInteger(user: string): boolean {
  return /^(?:0|-?[1-9]\d{0,15})$/.test(user) && Number.isSafeInteger(Number(user))
}

function refuseOld(asOf: string, maxLagMs: number): void {
  const row = prepared(`select (julianday('now') - julianday((${asOf}\n))) * 86400000 as lag`).get()
  const lag = typeof row?.lag === 'number' ? row.lag : Number.POSITIVE_INFINITY
  if (lag > maxLagMs) throw new Error(`its data is ${Math.round(lag)} ms old, and max_lag is ${maxLagMs} ms`)
}

function checkColumns({ field, query }: Part): void {
  const count = prepared(query).columns().length
  if (count !== 1) throw new Error(`the query for ${field} gives ${count} columns: let it select the user's id alone`)
}

/** Each telling is worth a read and a write of whoever hears it. */
const toldEvery = 256 * 1024

/**
 * The list goes to standard output, a file: so it is made as fast as it can be, and the operator's file is free again after a
 * moment, however slowly the list is read (a reader stops a checkpoint, and without WAL every writer).
 */
function list({ list: { field, query }, asOf }: AskedToList): void {
  const { db } = current()
  checkColumns({ field, query })
  db.exec('pragma temp_store = file; pragma temp.page_size = 65536; pragma temp.journal_mode = off; begin')
  const time = prepared(
    `select strftime('%Y-%m-%dT%H:%M:%fZ', ${asOf === undefined ? "'now'" : `(${asOf}\n)`}) as at`,
  ).get()
  if (typeof time?.at !== 'string') throw new Error('the database cannot tell how old its data is: as_of gave no time')
  let ids = 0
  let bytes = 0
  let told = 0
  for (const { array, count, nulls } of pages(db, query)) {
    if (nulls > 0) throw new Error('the query gave NULL for a user id')
    if (ids === 0) tell({ timestamp: time.at })
    array[0] = comma // `[…]` becomes `,…`
    const json = array.subarray(0, -1)
    // SQLite keeps whatever bytes it was given; an answer must be UTF-8.
    bytes += write(isUtf8(json) ? json : Buffer.from(Buffer.from(json).toString()))
    ids += count
    // Its memory is given back at once: the garbage collector would let a hundred megabytes gather first.
    ;(array.buffer as ArrayBuffer).transfer(0)
    if (bytes - told < toldEvery) continue
    told = bytes
    tell({ bytes, ids })
  }
  if (ids === 0) tell({ timestamp: time.at })
  tell({ bytes, ids })
  // And stays: what was told is sure to arrive only while the process lives. Whoever asked kills it.
  tell({ whole: true })
}

const comma = 0x2c

/** (process.stdout would keep what it writes.) @returns how many bytes */
function write(json: Uint8Array): number {
  for (let at = 0; at < json.length; ) at += writeSync(1, json, at)
  return json.length
}

function tell(told: Told): void {
  process.send?.(told)
}

function answer(work: () => void, fail: (error: string) => void): void {
  try {
    work()
  } catch (error) {
    fail((error as Error).message)
  }
}

process.on('message', (asked: AskedToLook | AskedToList) => {
  if ('list' in asked) {
    answer(
      () => list(asked),
      (error) => tell({ error }),
    )
  } else {
    answer(
      () => tell(look(asked)),
      (error) => tell({ look: asked.look, error }),
    )
  }
})
process.on('disconnect', () => process.exit(0))
