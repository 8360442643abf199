// The process that reads the operator's SQLite file. node:sqlite blocks its thread and cannot interrupt a query, so queries run
// in a process that can be killed. Started by sqlite.ts with the path of the file as its argument.

import { isUtf8 } from 'node:buffer'
import { statSync, writeSync } from 'node:fs'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { ListRequest, LookUpRequest, Part, ReaderMessage } from './sqlite-messages.ts'
import { pages } from './sqlite-pages.ts'

const file = process.argv[2] ?? ''
const busyMs = 2_000

let open:
  | { readonly db: DatabaseSync; readonly inode: number; readonly statements: Map<string, StatementSync> }
  | undefined

/** Reopens the file if it was replaced: the open handle would still read the old file. */
function openCurrent(): NonNullable<typeof open> {
  const { ino: inode } = statSync(file)
  if (open?.inode === inode) return open
  open?.db.close()
  open = { db: new DatabaseSync(file, { readOnly: true, timeout: busyMs }), inode, statements: new Map() }
  return open
}

function prepared(text: string): StatementSync {
  const { db, statements } = openCurrent()
  const statement = statements.get(text) ?? db.prepare(text)
  statements.set(text, statement)
  return statement
}

function findUsers({ lookUp, users, parts, asOf, maxLagMs }: LookUpRequest): ReaderMessage {
  if (asOf !== undefined && maxLagMs !== undefined) checkAge(asOf, maxLagMs)
  // A column without a type may store an id as a number: search for both forms, and compare them as text later.
  const ids = JSON.stringify(users.flatMap((user) => (isInteger(user) ? [user, Number(user)] : [user])))
  const found = parts.flatMap(({ field, query }) => {
    checkColumns({ field, query })
    const statement = prepared(
      `with q(id) as (${query}\n) select json_quote(cast(id as text)) as user from q where id in (select value from json_each(?))`,
    )
    // As JSON, because older versions of Node.js truncate a text at U+0000.
    return statement.all(ids).map((row) => ({ field, user: JSON.parse(String(row.user)) as string }))
  })
  return { lookUp, found }
}

function isInteger(user: string): boolean {
  return /^(?:0|-?[1-9]\d{0,15})$/.test(user) && Number.isSafeInteger(Number(user))
}

function checkAge(asOf: string, maxLagMs: number): void {
  const row = prepared(`select (julianday('now') - julianday((${asOf}\n))) * 86400000 as lag`).get()
  const lag = typeof row?.lag === 'number' ? row.lag : Number.POSITIVE_INFINITY
  if (lag > maxLagMs) throw new Error(`the data is ${Math.round(lag)} ms old; max_lag is ${maxLagMs} ms`)
}

function checkColumns({ field, query }: Part): void {
  const count = prepared(query).columns().length
  if (count !== 1) throw new Error(`the query for ${field} returns ${count} columns: select only the user id`)
}

/** Bytes between two progress messages: each message makes the parent read the file and write to its response once. */
const reportEvery = 256 * 1024

/**
 * Writes the list to standard output, which is a file. The operator's database is thus read at full speed and closed soon,
 * however slow the client is. (An open reader blocks checkpoints and, without WAL, every writer.)
 */
function writeList({ list: { field, query }, asOf }: ListRequest): void {
  const { db } = openCurrent()
  checkColumns({ field, query })
  db.exec('pragma temp_store = file; pragma temp.page_size = 65536; pragma temp.journal_mode = off; begin')
  const time = prepared(
    `select strftime('%Y-%m-%dT%H:%M:%fZ', ${asOf === undefined ? "'now'" : `(${asOf}\n)`}) as at`,
  ).get()
  if (typeof time?.at !== 'string') throw new Error('the age of the data is unknown: the query as_of returned no time')
  let ids = 0
  let bytes = 0
  let reported = 0
  for (const { array, count, nulls } of pages(db, query)) {
    if (nulls > 0) throw new Error('the query returned NULL for a user id')
    if (ids === 0) send({ timestamp: time.at })
    array[0] = comma // `[…]` becomes `,…`
    const json = array.subarray(0, -1)
    // SQLite stores any bytes as text; the response must be valid UTF-8.
    bytes += write(isUtf8(json) ? json : Buffer.from(Buffer.from(json).toString()))
    ids += count
    // Frees the memory now: the garbage collector would let a hundred megabytes accumulate first.
    ;(array.buffer as ArrayBuffer).transfer(0)
    if (bytes - reported < reportEvery) continue
    reported = bytes
    send({ bytes, ids })
  }
  if (ids === 0) send({ timestamp: time.at })
  send({ bytes, ids })
  // The process does not exit here: a message may be lost if its sender exits. The parent kills it.
  send({ complete: true })
}

const comma = 0x2c

/** Writes synchronously: process.stdout would buffer. @returns the bytes written */
function write(json: Uint8Array): number {
  for (let at = 0; at < json.length; ) at += writeSync(1, json, at)
  return json.length
}

function send(message: ReaderMessage): void {
  process.send?.(message)
}

function runOrReport(work: () => void, fail: (error: string) => void): void {
  try {
    work()
  } catch (error) {
    fail((error as Error).message)
  }
}

process.on('message', (request: LookUpRequest | ListRequest) => {
  if ('list' in request) {
    runOrReport(
      () => writeList(request),
      (error) => send({ error }),
    )
  } else {
    runOrReport(
      () => send(findUsers(request)),
      (error) => send({ lookUp: request.lookUp, error }),
    )
  }
})
process.on('disconnect', () => process.exit(0))
