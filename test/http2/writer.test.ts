import assert from 'node:assert/strict'
import test from 'node:test'
import { headBytes } from '../../src/base/http2/frames.ts'
import { Writer } from '../../src/base/http2/writer.ts'

/** Larger than the first buffer of a writer. */
const bytes = 1_000_000

/** @returns the payloads of the frames */
function payloads(from: Buffer): readonly Buffer[] {
  const found: Buffer[] = []
  for (let at = 0; at < from.length; ) {
    const end = at + headBytes + from.readUIntBE(at, 3)
    found.push(from.subarray(at + headBytes, end))
    at = end
  }
  return found
}

const writes: Record<string, { write(writer: Writer): void; readonly payload: Buffer }> = {
  DATA: { write: (writer) => writer.writeData(1, Buffer.alloc(9_000, 'a'), false), payload: Buffer.alloc(9_000, 'a') },
  'a whole body': { write: (writer) => writer.writeBody(1, 'b'.repeat(9_000)), payload: Buffer.alloc(9_000, 'b') },
  PING: { write: (writer) => writer.writePing(Buffer.from('bellwire'), false), payload: Buffer.from('bellwire') },
  RST_STREAM: { write: (writer) => writer.writeReset(1, 8), payload: Buffer.of(0, 0, 0, 8) },
  WINDOW_UPDATE: { write: (writer) => writer.writeWindowUpdate(1, 9), payload: Buffer.of(0, 0, 0, 9) },
}

for (const [name, { write, payload }] of Object.entries(writes))
  test(`http2 own: ${name} is written whole while the buffer of the writer grows`, () => {
    const writer = new Writer()
    while (writer.length < bytes) write(writer)
    for (const written of payloads(writer.take())) assert.ok(written.equals(payload))
  })
