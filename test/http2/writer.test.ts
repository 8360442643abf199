import assert from 'node:assert/strict'
import test from 'node:test'
import { frameType } from '../../src/http2/frames.ts'
import { Decoder } from '../../src/http2/hpack-decoder.ts'
import { Writer } from '../../src/http2/writer.ts'

interface Frame {
  readonly type: number
  readonly flags: number
  readonly stream: number
  readonly payload: Buffer
}

function framesOf(bytes: Buffer): Frame[] {
  const frames: Frame[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = at + 9 + bytes.readUIntBE(at, 3)
    const payload = Buffer.from(bytes.subarray(at + 9, end))
    frames.push({
      type: bytes[at + 3] as number,
      flags: bytes[at + 4] as number,
      stream: bytes.readUInt32BE(at + 5),
      payload,
    })
    at = end
  }
  return frames
}

const table = () => 'table' as const

test('the preface is followed by SETTINGS that forbid push, and by the window of the connection', () => {
  const writer = new Writer()
  writer.writePreface(1_000_000, 5)
  const bytes = writer.take()
  assert.equal(bytes.toString('latin1', 0, 24), 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
  const [settings, window, ...rest] = framesOf(bytes.subarray(24))
  assert.equal(settings?.type, frameType.settings)
  assert.match(settings?.payload.toString('hex') ?? '', /000200000000/)
  assert.equal(window?.payload.readUInt32BE(), 5)
  assert.equal(rest.length, 0)
})

test('headers longer than a frame are continued, and the peer reads the same headers', () => {
  for (const length of [10, 16_383, 16_384, 40_000, 60_000]) {
    const writer = new Writer()
    const fields = [':method', 'POST', 'x-long', 'a'.repeat(length), 'x-last', 'z']
    writer.writeHeaders(1, fields, table, true)
    const frames = framesOf(writer.take())
    assert.deepEqual(
      frames.map(({ type, flags }) => [type, flags]),
      frames.map((_, n) => [n === 0 ? 1 : 9, (n === 0 ? 1 : 0) | (n === frames.length - 1 ? 4 : 0)]),
    )
    assert.ok(frames.every(({ payload }) => payload.length <= 16_384))
    assert.equal(frames.length, Math.ceil((length + 15) / 16_384))
    const block = Buffer.concat(frames.map(({ payload }) => payload))
    assert.deepEqual(new Decoder().decode(block, 0, block.length), fields)
  }
})

test('a body is written as UTF-8, and its size in bytes is returned', () => {
  const writer = new Writer()
  assert.equal(writer.writeBody(3, 'süß €'), 9)
  const [frame] = framesOf(writer.take())
  assert.deepEqual([frame?.type, frame?.flags, frame?.stream, frame?.payload.toString()], [0, 1, 3, 'süß €'])
})

test('bytes that were taken stay as they are until they are recycled, while more is written', () => {
  const writer = new Writer()
  const kept: [Buffer, Buffer][] = []
  for (let n = 0; n < 100; n++) {
    for (let m = 0; m < 20; m++) writer.writeData(n * 2 + 1, Buffer.alloc(5_000, n), false)
    const taken = writer.take()
    kept.push([taken, Buffer.from(taken)])
    if (n % 3 === 2)
      for (const [bytes, copy] of kept.splice(0)) {
        assert.ok(bytes.equals(copy))
        writer.recycle(bytes)
      }
  }
  assert.equal(writer.length, 0)
  assert.equal(writer.take().length, 0)
})
