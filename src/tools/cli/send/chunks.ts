import { push, type Ranges } from '../../../base/runtime/ranges.ts'
import { CliError, exit } from '../exit.ts'

/** The lines of one request. */
export interface Chunk {
  /** The lines, without blank ones, each with a trailing newline. */
  readonly body: Buffer
  /** The line numbers in the file, from 1. */
  readonly lines: Ranges
  readonly count: number
  /** The position in the file after this chunk, in bytes. */
  readonly bytesRead: number
}

/** The platform lists the first 1,000 refused lines of a request, so this limit ensures that all are listed. */
const maxLines = 1_000
const maxBytes = 4 * 1024 * 1024
const maxLineBytes = 16 * 1024 * 1024

/**
 * Splits NDJSON into requests, in constant memory. A last line without a newline is included; the platform refuses it if it is
 * truncated.
 *
 * @throws CliError if the file is not NDJSON
 */
export async function* chunks(stream: AsyncIterable<Buffer>): AsyncGenerator<Chunk> {
  let parts: Buffer[] = []
  let lines: Ranges = []
  let count = 0
  let bytes = 0
  let number = 0
  let bytesRead = 0

  const addLine = (line: Buffer): void => {
    number++
    if (isBlank(line)) return
    if (lines.length === 0 && number === 1) refuseArray(line)
    parts.push(line, newline)
    push(lines, number)
    count++
    bytes += line.length + 1
  }
  const isFull = (): boolean => count >= maxLines || bytes >= maxBytes
  const cutChunk = (): Chunk => {
    const chunk = { body: Buffer.concat(parts), lines, count, bytesRead }
    parts = []
    lines = []
    count = 0
    bytes = 0
    return chunk
  }

  let rest: Buffer[] = []
  let restBytes = 0
  for await (const read of stream) {
    let from = number === 0 && restBytes === 0 && read.subarray(0, 3).equals(byteOrderMark) ? 3 : 0
    for (let at = read.indexOf(10, from); at >= 0; at = read.indexOf(10, from)) {
      const piece = read.subarray(from, at)
      addLine(restBytes > 0 ? Buffer.concat([...rest, piece]) : piece)
      bytesRead += restBytes + at + 1 - from
      rest = []
      restBytes = 0
      from = at + 1
      if (isFull()) yield cutChunk()
    }
    if (from < read.length) {
      rest.push(read.subarray(from))
      restBytes += read.length - from
    }
    if (restBytes > maxLineBytes)
      throw new CliError(
        exit.usage,
        `line ${number + 1} is longer than ${maxLineBytes} bytes: NDJSON has one record per line`,
      )
  }
  if (restBytes > 0) {
    addLine(Buffer.concat(rest))
    bytesRead += restBytes
  }
  if (count > 0) yield cutChunk()
}

const newline = Buffer.from('\n')
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf])

function isBlank(line: Buffer): boolean {
  for (const byte of line) if (byte !== 32 && byte !== 9 && byte !== 13) return false
  return true
}

function refuseArray(line: Buffer): void {
  if (line.toString('latin1', 0, 100).trimStart().startsWith('['))
    throw new CliError(
      exit.usage,
      "this file is a JSON array, but NDJSON has one record per line; convert it with: jq -c '.[]' file.json > file.ndjson",
    )
}
