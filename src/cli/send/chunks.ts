import { CliError, exit } from '../exit.ts'
import { push, type Ranges } from './ranges.ts'

/** As many lines as one request carries. */
export interface Chunk {
  /** The lines without the empty ones, each ended by a newline. */
  readonly body: Buffer
  /** The numbers of these lines in the file, from 1. */
  readonly lines: Ranges
  readonly count: number
  /** Bytes of the file up to the end of this chunk. */
  readonly bytesRead: number
}

/** So many lines that a refused line is always named: the platform lists the first 1,000 of a request. */
const mostLines = 1_000
const mostBytes = 4 * 1024 * 1024
const longestLine = 16 * 1024 * 1024

/**
 * Cuts NDJSON into requests, in constant memory. A last line without its newline counts: whether it is whole, the platform says.
 *
 * @throws CliError when this is not NDJSON at all
 */
export async function* chunks(stream: AsyncIterable<Buffer>): AsyncGenerator<Chunk> {
  let parts: Buffer[] = []
  let lines: Ranges = []
  let count = 0
  let bytes = 0
  let number = 0
  let bytesRead = 0

  const take = (line: Buffer): void => {
    number++
    if (isBlank(line)) return
    if (lines.length === 0 && number === 1) refuseArray(line)
    parts.push(line, newline)
    push(lines, number)
    count++
    bytes += line.length + 1
  }
  const full = (): boolean => count >= mostLines || bytes >= mostBytes
  const cut = (): Chunk => {
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
      take(restBytes > 0 ? Buffer.concat([...rest, piece]) : piece)
      bytesRead += restBytes + at + 1 - from
      rest = []
      restBytes = 0
      from = at + 1
      if (full()) yield cut()
    }
    if (from < read.length) {
      rest.push(read.subarray(from))
      restBytes += read.length - from
    }
    if (restBytes > longestLine)
      throw new CliError(
        exit.usage,
        `line ${number + 1} is longer than ${longestLine} bytes: write one activity request record on each line (NDJSON)`,
      )
  }
  if (restBytes > 0) {
    take(Buffer.concat(rest))
    bytesRead += restBytes
  }
  if (count > 0) yield cut()
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
      "this file is a JSON array; NDJSON has one record on each line: jq -c '.[]' file.json > file.ndjson",
    )
}
