// The thread of a scratch database (sqlite-scratch.ts): it runs one statement after another, as it is told.

import { DatabaseSync, type SQLInputValue, type SQLOutputValue } from 'node:sqlite'
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import type { Value } from './database.ts'

export interface Setup {
  /** The file that is read, as SQLite's URI. */
  readonly attach: string
  readonly pieces: MessagePort
  /** Rings when there is a piece. */
  readonly bell: Int32Array
  /** Slots of lines, shared with the thread that fills them. */
  readonly memory: Uint8Array
  readonly slotBytes: number
}
export type Piece =
  | { readonly slot: number; readonly bytes: number }
  | { readonly texts: readonly string[] }
  | 'end'
  | 'break off'
export interface Question {
  readonly id: number
  readonly load?: string
  readonly text?: string
  readonly values?: readonly Value[]
}
export type Answer =
  | { readonly taken: true }
  | { readonly id: number; readonly rows: readonly object[] }
  | { readonly id: number; readonly error: string }

const { attach, pieces, bell, memory, slotBytes } = workerData as Setup
const port = parentPort as MessagePort

// '' is a temporary database: in a file of the temporary folder once it outgrows its cache, removed by itself. A small cache
// sorts fastest: its runs fit into the processor's (5 million ids: 4.4 s with 2 MB, 7.0 s with 32 MB).
const db = new DatabaseSync('')
db.exec('pragma journal_mode = off; pragma synchronous = off; pragma temp_store = file; pragma cache_size = -2000')
db.prepare('attach ? as source').run(attach)
db.function('next_piece', { directOnly: true }, nextPiece)

port.on('message', ({ id, load, text, values = [] }: Question) => {
  try {
    if (load !== undefined) loadInto(load)
    const rows = text === undefined ? [] : run(text, values)
    port.postMessage({ id, rows } satisfies Answer)
  } catch (error) {
    port.postMessage({ id, error: (error as Error).message } satisfies Answer)
  }
})

function run(text: string, values: readonly Value[]): readonly object[] {
  // SQLite knows `$1` as a parameter of the name 1.
  const named = Object.fromEntries(values.map((value, i) => [i + 1, value as SQLInputValue]))
  return db.prepare(text).all(named)
}

/**
 * One statement that pulls its rows from us: they go straight into SQLite's sorter, which works while the next ones come, and
 * into the table in its order. A row each, in order of arrival, would take five times as long (23 s for 5 million).
 */
function loadInto(table: string): void {
  db.exec(`create table ${table} (text text not null primary key, times integer not null default 1) without rowid`)
  db.exec(`
    with recursive pieces (n, piece) as (
      select 1, next_piece(1) union all select n + 1, next_piece(n + 1) from pieces where piece is not null
    )
    insert into ${table} (text) select e.value from pieces p, json_each(cast(p.piece as text)) e where p.piece is not null order by 1
    on conflict (text) do update set times = times + 1`)
}

let json = Buffer.alloc(256 * 1024)

/**
 * The next piece as JSON, in bytes: what this returned is held until the statement ends, and so it is always the same memory.
 *
 * @param _number only there so that SQLite sees a new call each time
 */
function nextPiece(_number: SQLOutputValue): Uint8Array | null {
  for (;;) {
    const heard = Atomics.load(bell, 0)
    const received = receiveMessageOnPort(pieces)
    if (!received) {
      Atomics.wait(bell, 0, heard)
      continue
    }
    const piece = received.message as Piece
    const made = typeof piece === 'string' ? null : asJson(piece)
    port.postMessage({ taken: true } satisfies Answer)
    if (piece === 'break off') throw new Error('the loading was broken off')
    return made
  }
}

function asJson(piece: Exclude<Piece, string>): Uint8Array {
  if ('texts' in piece) {
    const text = JSON.stringify(piece.texts)
    if (json.length < 3 * text.length) json = Buffer.alloc(3 * text.length)
    return json.subarray(0, json.write(text))
  }
  const from = piece.slot * slotBytes
  const lines = memory.subarray(from, from + piece.bytes)
  // A line of one byte and its newline become four.
  if (json.length < 2 * lines.length + 4) json = Buffer.alloc(2 * lines.length + 4)
  let to = 0
  json[to++] = 91
  json[to++] = 34
  const last = lines.length - 1
  for (let i = 0; i < last; i++) {
    const c = lines[i] as number
    if (c === 10) {
      json[to++] = 34
      json[to++] = 44
      json[to++] = 34
    } else json[to++] = c
  }
  json[to++] = 34
  json[to++] = 93
  return json.subarray(0, to)
}
