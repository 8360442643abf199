// The messages of a COPY, as they come from the socket. A row has six bytes around its id, in the answer an id has three: so
// the answer is written over the rows, in the very memory that the socket filled, and a long list needs no other.

import type { IdChunk } from './attribute-source.ts'

const copyData = 0x64 // d
const copyDone = 0x63 // c
const errorResponse = 0x45 // E
const headBytes = 5
const [comma, quoteMark, backslash] = [0x2c, 0x22, 0x5c]

/** 1: the byte stands in a JSON string as it is. COPY writes UTF-8, and a backslash before what it escapes itself. */
const plain = new Uint8Array(256).fill(1, 0x20)
plain[quoteMark] = 0
plain[backslash] = 0

export interface Rows {
  readonly chunks: readonly IdChunk[]
  /** What comes after the rows, once they have ended: for pg to read. */
  readonly rest?: Buffer
}

/** Takes what the socket gave, message by message, however it was cut. @throws for NULL instead of an id */
export function createCopyRows(): (bytes: Buffer) => Rows {
  let cut: Buffer = Buffer.alloc(0) // the beginning of a message whose end has not come

  return (bytes) => {
    if (cut.length === 0) return readMessages(bytes)
    // Only the message that was cut is put together; what follows stays where it is.
    const lacking = messageEnd(cut, bytes) - cut.length
    if (lacking > bytes.length) {
      cut = Buffer.concat([cut, bytes])
      return { chunks: [] }
    }
    const first = readMessages(Buffer.concat([cut, bytes.subarray(0, lacking)]))
    if (first.rest) return { chunks: first.chunks, rest: Buffer.concat([first.rest, bytes.subarray(lacking)]) }
    const others = readMessages(bytes.subarray(lacking))
    return { ...others, chunks: [...first.chunks, ...others.chunks] }
  }

  function readMessages(bytes: Buffer): Rows {
    const chunks: IdChunk[] = []
    let written = 0 // the answer stands in bytes up to here
    let chunkFrom = 0
    let count = 0
    const flush = (): void => {
      if (count > 0) chunks.push({ json: bytes.subarray(chunkFrom, written), count })
      chunkFrom = written
      count = 0
    }
    let from = 0
    cut = Buffer.alloc(0)
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
        const end = next - 1 // without its line feed
        const to = writePlain(bytes, from + headBytes, end, written)
        if (to > 0) {
          written = to
          count++
        } else {
          const id = unescaped(bytes.toString('utf8', from + headBytes, end))
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
    if (from < bytes.length) cut = Buffer.from(bytes.subarray(from))
    return { chunks }
  }
}

/** Copies an id to where the answer has come, if it needs no escape. @returns where the answer then ends; 0: it needs one */
function writePlain(bytes: Buffer, from: number, end: number, at: number): number {
  for (let i = from; i < end; i++) if (plain[bytes[i] as number] === 0) return 0
  bytes[at] = comma
  bytes[at + 1] = quoteMark
  let to = at + 2
  for (let i = from; i < end; i++) bytes[to++] = bytes[i] as number
  bytes[to] = quoteMark
  return to + 1
}

/** Where the message that begins in `cut` ends, or one byte more than there is, where its length has not come whole. */
function messageEnd(cut: Buffer, bytes: Buffer): number {
  if (cut.length + bytes.length < headBytes) return cut.length + bytes.length + 1
  const head = cut.length >= headBytes ? cut : Buffer.concat([cut, bytes.subarray(0, headBytes)])
  return 1 + head.readInt32BE(1)
}

const escapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }

function unescaped(text: string): string {
  if (text === '\\N') throw new Error('the query gave NULL for a user id')
  return text.replace(/\\(.)/g, (_, character: string) => escapes[character] ?? character)
}
