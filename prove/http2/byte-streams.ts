// Byte streams of a peer, for fuzzing: frames that are mostly valid and then mutated, and random bytes.

import fc from 'fast-check'
import { frameType, headBytes, writeHead } from '../../src/base/http2/frames.ts'

const maxPieceBytes = 48

/** Pieces of header blocks: indexed fields, literals with and without Huffman codes, size updates, an integer that never ends. */
const blockPiece = fc.oneof(
  fc.integer({ min: 0x80, max: 0xff }).map((byte) => Buffer.of(byte)),
  fc.constantFrom(
    Buffer.of(0x88),
    Buffer.of(0x20),
    Buffer.of(0x3f, 0xe1, 0x1f),
    Buffer.of(0xff, 0xff, 0xff, 0xff, 0xff, 0xff),
  ),
  fc
    .tuple(
      fc.constantFrom(0x40, 0x00, 0x10, 0x5c, 0x0f, 0x0d),
      fc.constantFrom(0, 0x80),
      fc.uint8Array({ maxLength: 12 }),
      fc.uint8Array({ maxLength: maxPieceBytes }),
    )
    .map(([first, huffman, name, value]) => {
      const text = (bytes: Uint8Array): Uint8Array[] => [Uint8Array.of(huffman | bytes.length), bytes]
      return Buffer.concat([Buffer.of(first), ...((first & 0x3f) === 0 ? text(name) : []), ...text(value)])
    }),
)

const payloadOf = (type: number): fc.Arbitrary<Uint8Array> => {
  const any = fc.uint8Array({ maxLength: maxPieceBytes })
  const exactly = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })
  if (type === frameType.headers || type === frameType.continuation)
    return fc.array(blockPiece, { maxLength: 6 }).map((pieces) => Buffer.concat([Buffer.of(0x88), ...pieces]))
  if (type === frameType.settings)
    return fc
      .array(fc.tuple(fc.integer({ min: 1, max: 6 }), fc.constantFrom(0, 1, 100, 4_096, 16_384, 65_535, 0x7fffffff)), {
        maxLength: 4,
      })
      .map((pairs) =>
        Buffer.concat(pairs.map(([id, value]) => Buffer.of(0, id, value >>> 24, value >>> 16, value >>> 8, value))),
      )
  if (type === frameType.ping) return exactly(8)
  if (type === frameType.windowUpdate || type === frameType.reset) return exactly(4)
  if (type === frameType.priority) return exactly(5)
  return any
}

const oneFrame = fc
  .tuple(
    fc
      .constantFrom(0, 0, 1, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 0xbe)
      .chain((type) => payloadOf(type).map((payload) => ({ type, payload }))),
    fc.constantFrom(0, 1, 4, 4, 5, 5, 8, 0x2c, 0xff),
    fc.constantFrom(0, 0, 1, 1, 1, 3, 5, 2, 7, 0x7fffffff),
  )
  .map(([{ type, payload }, flags, stream]) => {
    const bytes = Buffer.alloc(headBytes + payload.length)
    writeHead(bytes, 0, payload.length, type, flags, stream)
    bytes.set(payload, headBytes)
    return bytes
  })

const settings = Buffer.alloc(headBytes)
writeHead(settings, 0, 0, frameType.settings, 0, 0)

const mutated = fc
  .tuple(
    fc.array(oneFrame, { maxLength: 10 }),
    fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 3 }),
    fc.nat({ max: 3 }),
  )
  .map(([frames, mutations, cut]) => {
    const bytes = Buffer.concat([settings, ...frames])
    for (const [position, value] of mutations) bytes[position % bytes.length] = value
    return bytes.subarray(0, bytes.length - cut)
  })

const random = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.concat([settings, bytes]))

/** A byte stream, and the size of the pieces in which it arrives. */
export const byteStreams: fc.Arbitrary<readonly [Buffer, number]> = fc.tuple(
  fc.oneof({ weight: 4, arbitrary: mutated }, { weight: 1, arbitrary: random }),
  fc.integer({ min: 1, max: 40 }),
)
