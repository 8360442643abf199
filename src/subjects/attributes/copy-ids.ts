// COPY (…) TO STDOUT of one text column, converted to JSON chunk by chunk. Only ids that need an escape become strings of their own.
// https://www.postgresql.org/docs/current/sql-copy.html, Text Format

import type pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import type { IdChunk } from './attribute-source.ts'

const lineFeed = 0x0a
/** Matches a byte that JSON escapes. COPY marks its own escapes with a backslash. */
const needsEscape = /[^\n\x20\x21\x23-\x5b\x5d-\xff]/

/**
 * Yields the ids of a COPY in chunks. An early `return` does not cancel the query; the caller must do that.
 *
 * @throws if the query fails, the connection is lost or the signal aborts
 */
export async function* copyIds(client: pg.Client, copy: string, signal: AbortSignal): AsyncGenerator<IdChunk> {
  const rows = copyTo(copy)
  // The query may also fail after the list was abandoned.
  rows.on('error', () => {})
  const abort = (): void => void rows.destroy(new Error('the list was cancelled'))
  const onLost = (error?: Error): void =>
    void rows.destroy(error ?? new Error('the connection to the database was lost'))
  client.on('error', onLost).on('end', onLost)
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort, { once: true })
  try {
    client.query(rows)
    let partial: Buffer = Buffer.alloc(0) // a row whose end has not arrived
    for await (const received of rows) {
      const bytes = partial.length > 0 ? Buffer.concat([partial, received as Buffer]) : (received as Buffer)
      const end = bytes.lastIndexOf(lineFeed)
      partial = bytes.subarray(end + 1)
      if (end >= 0) yield chunkOf(bytes.subarray(0, end))
    }
  } finally {
    client.off('error', onLost).off('end', onLost)
    signal.removeEventListener('abort', abort)
  }
}

/** @param lines the rows, without the last line feed. @throws if an id is NULL */
function chunkOf(lines: Buffer): IdChunk {
  // One character for each byte: fast to search and to convert, and all bytes of UTF-8 stay as they are.
  const text = lines.toString('latin1')
  if (needsEscape.test(text)) return { ids: lines.toString().split('\n').map(unescapeText) }
  const ids = text.split('\n')
  return { json: Buffer.from(`,"${ids.join('","')}"`, 'latin1'), count: ids.length }
}

const escapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }

function unescapeText(text: string): string {
  if (text === '\\N') throw new Error('the query returned NULL for a user id')
  return text.replace(/\\(.)/g, (_, character: string) => escapes[character] ?? character)
}
