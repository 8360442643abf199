// A backup of the SQLite files of a running side, as one stream: the state that a power failure at one moment would leave, of all
// files together.
//
// The stream has a line of JSON before the bytes of each file and log, {"name","bytes"}, and ends with the line {"side","at"}. A
// stream without this line is not complete. A stream that is refused has only the line {"refused"}.

import { read } from 'node:fs'
import { promisify } from 'node:util'
import { clock } from '../runtime/clock.ts'
import type { Database, FileRange, HeldFile } from './database.ts'
import { StoreUnavailable } from './store-unavailable.ts'

const readAt = promisify(read)

const chunkBytes = 1024 * 1024
/** At the end, the log is written into its file, which stops all commits for as long. */
const mostLogBytes = 2 * 1024 ** 3

/** A database of the side, with its name in backups. */
export interface NamedDatabase {
  readonly name: string
  readonly database: Database
}

/** Precedes the bytes of a file or a log. */
export interface PartHeader {
  /** 'store.db' or 'store.db-wal'. */
  readonly name: string
  readonly bytes: number
}

/** The last line: the side, and the moment of the backup in epoch milliseconds. Or why there is no backup. */
export type StreamEnd = { readonly side: string; readonly at: number } | { readonly refused: string }

/**
 * Streams a backup. The files are held from the first read of the stream to its end.
 *
 * @param databases SQLite files
 */
export async function* streamBackup(side: string, databases: readonly NamedDatabase[]): AsyncGenerator<Uint8Array> {
  const files: { readonly name: string; readonly held: HeldFile }[] = []
  const checkLogs = (): void => {
    if (files.some(({ held }) => held.log.bytes > mostLogBytes))
      throw new StoreUnavailable('the backup is read too slowly: the write-ahead log has grown to 2 GiB')
  }
  try {
    for (const { name, database } of databases) {
      const held = database.holdFile?.()
      if (!held) return yield line({ refused: 'another backup of this side is running' } satisfies StreamEnd)
      files.push({ name: `${name}.db`, held })
    }
    for (const { name, held } of files) yield* streamPart(name, held.file, checkLogs)
    // All of them in one turn of the event loop, so that no commit is between two files.
    const logs = files.map(({ name, held }) => ({ name: `${name}-wal`, range: held.log }))
    const at = clock.now()
    for (const { name, range } of logs) yield* streamPart(name, range, checkLogs)
    for (const { held } of files) held.demandOpen()
    yield line({ side, at } satisfies StreamEnd)
  } finally {
    for (const { held } of files) held.release()
  }
}

async function* streamPart(name: string, range: FileRange, checkLogs: () => void): AsyncGenerator<Uint8Array> {
  yield line({ name, bytes: range.bytes } satisfies PartHeader)
  for (let from = 0; from < range.bytes; ) {
    checkLogs()
    const length = Math.min(chunkBytes, range.bytes - from)
    const { bytesRead, buffer } = await readAt(range.descriptor, Buffer.allocUnsafe(length), 0, length, from)
    if (bytesRead === 0) throw new StoreUnavailable(`${name} ended after ${from} bytes`)
    yield buffer.subarray(0, bytesRead)
    from += bytesRead
  }
}

const line = (value: object): Uint8Array => Buffer.from(`${JSON.stringify(value)}\n`)

/** Where the bytes of a part go. */
export interface PartWriter {
  write(bytes: Uint8Array): Promise<unknown>
  close(): Promise<unknown>
}

/** Reads the parts of a stream. @param open opens the file of a part for writing */
export function createBackupReader(open: (name: string) => Promise<PartWriter>) {
  let header = Buffer.alloc(0)
  let current: PartWriter | undefined
  let missing = 0
  let ended: StreamEnd | undefined

  async function readHeader(text: string): Promise<void> {
    const value = JSON.parse(text) as PartHeader | StreamEnd
    if (!('name' in value)) ended = value
    else {
      current = await open(value.name)
      missing = value.bytes
    }
  }

  async function closeIfComplete(): Promise<void> {
    if (missing > 0) return
    await current?.close()
    current = undefined
  }

  return {
    /** Takes the next bytes of the stream. */
    async write(chunk: Buffer): Promise<void> {
      for (let rest = chunk; rest.length > 0; await closeIfComplete()) {
        if (current) {
          const bytes = rest.subarray(0, missing)
          await current.write(bytes)
          missing -= bytes.length
          rest = rest.subarray(bytes.length)
        } else {
          const end = rest.indexOf('\n')
          header = Buffer.concat([header, end < 0 ? rest : rest.subarray(0, end)])
          rest = end < 0 ? Buffer.alloc(0) : rest.subarray(end + 1)
          if (end < 0) continue
          await readHeader(header.toString())
          header = Buffer.alloc(0)
        }
      }
    },
    /** Closes the file of a part that is not complete. @returns the last line. Undefined: the stream is not complete */
    async end(): Promise<StreamEnd | undefined> {
      await current?.close()
      current = undefined
      return ended
    },
  }
}
