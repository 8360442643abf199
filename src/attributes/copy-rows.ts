// Parses the protocol messages of a COPY. A row has six bytes around its id, the JSON only three: so the JSON is written in
// place, over the rows in the socket's buffer, and a long list needs no other memory.

import type { IdChunk } from './attribute-source.ts'

const copyData = 0x64 // d
const copyDone = 0x63 // c
const errorResponse = 0x45 // E
const headBytes = 5
const [comma, quoteMark, backslash] = [0x2c, 0x22, 0x5c]

/** 1: the byte needs no escape in a JSON string. (COPY sends UTF-8 and marks its own escapes with a backslash.) */
const plain = new Uint8Array(256).fill(1, 0x20)
plain[quoteMark] = 0
plain[backslash] = 0

export interface Rows {
  readonly chunks: readonly IdChunk[]
  /** The bytes after the last row, for pg to read. Present once the rows have ended. */
  readonly rest?: Buffer
}

/** Returns a parser for successive socket reads, which may split a message anywhere. @throws if an id is NULL */
export function createCopyRows(): (bytes: Buffer) => Rows {
  let partial: Buffer = Buffer.alloc(0) // the start of a message that has not arrived completely

  return (bytes) => {
    if (partial.length === 0) return readMessages(bytes)
    // Only the split message is copied to a new buffer; the messages after it are read in place.
    const missing = messageEnd(partial, bytes) - partial.length
    if (missing > bytes.length) {
      partial = Buffer.concat([partial, bytes])
      return { chunks: [] }
    }
    const first = readMessages(Buffer.concat([partial, bytes.subarray(0, missing)]))
    if (first.rest) return { chunks: first.chunks, rest: Buffer.concat([first.rest, bytes.subarray(missing)]) }
    const others = readMessages(bytes.subarray(missing))
    return { ...others, chunks: [...first.chunks, ...others.chunks] }
  }

  function readMessages(bytes: Buffer): Rows {
    const chunks: IdChunk[] = []
    let written = 0 // where the JSON written so far ends in `bytes`
    let chunkFrom = 0
    let count = 0
    const flush = (): void => {
      if (count > 0) chunks.push({ json: bytes.subarray(chunkFrom, written), count })
      chunkFrom = written
      count = 0
    }
    let from = 0
    partial = Buffer.alloc(0)
    while (from + headBytes <= bytes.length) {
      const type = bytes[from]
      if (type === errorResponse) {
        flush()
        return { chunks, rest: bytes.subarray(from) }
      }
      const next = from + 1 + bytes.readInt32BE(from + 1)
      if (next > bytes.length) break
      if (type === copyDone) {
        flush()
        return { chunks, rest: bytes.subarray(next) }
      }
      if (type === copyData) {
        const end = next - 1 // excludes the line feed
        const to = writePlain(bytes, from + headBytes, end, written)
        if (to > 0) {
          written = to
          count++
        } else {
          const id = unescapeText(bytes.toString('utf8', from + headBytes, end))
          const json = `,${JSON.stringify(id)}`
          if (written + Buffer.byteLength(json) <= next) {
            written += bytes.write(json, written)
            count++
          } else {
            flush()
            chunks.push({ ids: [id] })
          }
        }
      }
      from = next
    }
    flush()
    if (from < bytes.length) partial = Buffer.from(bytes.subarray(from))
    return { chunks }
  }
}

/** Writes an id as JSON at `at`, unless it needs an escape. @returns the end of the written JSON, or 0 if it needs an escape */
function writePlain(bytes: Buffer, from: number, end: number, at: number): number {
  for (let i = from; i < end; i++) if (plain[bytes[i] as number] === 0) return 0
  bytes[at] = comma
  bytes[at + 1] = quoteMark
  let to = at + 2
  for (let i = from; i < end; i++) bytes[to++] = bytes[i] as number
  bytes[to] = quoteMark
  return to + 1
}

/** The length of the message that starts in `partial`, or one byte more than available if its header is incomplete. */
function messageEnd(partial: Buffer, bytes: Buffer): number {
  if (partial.length + bytes.length < headBytes) return partial.length + bytes.length + 1
  const head = partial.length >= headBytes ? partial : Buffer.concat([partial, bytes.subarray(0, headBytes)])
  return 1 + head.readInt32BE(1)
}

const escapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }

function unescapeText(text: string): string {
  if (text === '\\N') throw new Error('the query returned NULL for a user id')
  return text.replace(/\\(.)/g, (_, character: string) => escapes[character] ?? character)
}
