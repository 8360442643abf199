// The part of Protocol Buffers that the fake GCM needs: functions that write one field by its number.

/** Encodes a varint, lowest seven bits first. */
export function varint(value: number | bigint): Buffer {
  const bytes: number[] = []
  let rest = BigInt(value)
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128)
  bytes.push(Number(rest))
  return Buffer.from(bytes)
}

/** Reads a varint. Undefined if it is incomplete. */
export function readVarint(bytes: Buffer, from: number): { readonly value: number; readonly next: number } | undefined {
  let value = 0
  for (let at = from, shift = 0; at < bytes.length; at++, shift += 7) {
    const byte = bytes[at] as number
    value |= (byte & 127) << shift
    if (byte < 128) return { value, next: at + 1 }
  }
  return undefined
}

export const number = (field: number, value: number | bigint): Buffer =>
  Buffer.concat([varint(field << 3), varint(value)])

export function fixed64(field: number, value: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return Buffer.concat([varint((field << 3) | 1), bytes])
}

/** Encodes a string, bytes or an embedded message. */
export function bytes(field: number, value: string | Buffer): Buffer {
  const content = Buffer.from(value)
  return Buffer.concat([varint((field << 3) | 2), varint(content.length), content])
}
