// One-dimensional arrays in PostgreSQL's binary format, which pg accepts as a Buffer: the text format costs twice as much.
// Header: dimensions, "has nulls", element type, length, first index. Then each element with its length.

import type { ColumnType, Value } from './database.ts'

const oid = { text: 25, bigint: 20 } as const
const headerBytes = 20
const mostBytes = 768 * 1024 * 1024 // the server accepts messages below 1 GiB

/**
 * Encodes one column of the rows.
 *
 * @example encodeArray('bigint', [['a', 1], ['b', null]], 1) // the binary form of '{1,null}'::bigint[]
 * @throws RangeError for more than 768 MB
 */
export function encodeArray(type: ColumnType, rows: readonly (readonly Value[])[], column: number): Buffer {
  const buffer = Buffer.allocUnsafe(headerBytes + sizeOf(type, rows, column))
  for (const [i, word] of [1, 1, oid[type], rows.length, 1].entries()) buffer.writeInt32BE(word, 4 * i)
  let at = headerBytes
  for (const row of rows) {
    const value = row[column] as string | number | null
    if (value === null) at = buffer.writeInt32BE(-1, at)
    else if (type === 'bigint') at = writeBigint(buffer, value as number, at)
    else at = writeText(buffer, value as string, at)
  }
  return buffer.subarray(0, at)
}

/** Upper bound for the size of the elements: three bytes per UTF-16 unit; long texts are measured exactly. */
function sizeOf(type: ColumnType, rows: readonly (readonly Value[])[], column: number): number {
  if (type === 'bigint') return rows.length * 12
  let size = 0
  for (const row of rows) {
    const value = row[column] as string | null
    size += 4 + (value === null ? 0 : value.length > 4_096 ? Buffer.byteLength(value) : value.length * 3)
  }
  if (size > mostBytes)
    throw new RangeError(`A column has more than ${mostBytes} bytes in one transaction: send fewer rows at a time`)
  return size
}

function writeBigint(buffer: Buffer, value: number, at: number): number {
  buffer.writeInt32BE(8, at)
  buffer.writeInt32BE(Math.floor(value / 4_294_967_296), at + 4)
  return buffer.writeUInt32BE(value >>> 0, at + 8)
}

function writeText(buffer: Buffer, value: string, at: number): number {
  const bytes = buffer.write(value, at + 4, 'utf8')
  buffer.writeInt32BE(bytes, at)
  return at + 4 + bytes
}
