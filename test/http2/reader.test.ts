import assert from 'node:assert/strict'
import test from 'node:test'
import { errorCode, flag, frameType, writeHead } from '../../src/base/http2/frames.ts'
import { Reader, type ReaderEvents } from '../../src/base/http2/reader.ts'

function frame(type: number, flags: number, stream: number, payload: Buffer | number[] = []): Buffer {
  const body = Buffer.from(payload as Buffer)
  const bytes = Buffer.alloc(9 + body.length)
  writeHead(bytes, 0, body.length, type, flags, stream)
  body.copy(bytes, 9)
  return bytes
}

function reader() {
  const seen: unknown[] = []
  const events: ReaderEvents = {
    onHeaders: (stream, fields, ends) => seen.push(['headers', stream, fields.join(' '), ends]),
    onData: (stream, bytes, length, ends) => seen.push(['data', stream, bytes.toString(), length, ends]),
    onReset: (stream, code) => seen.push(['reset', stream, code]),
    onSettings: (settings) => seen.push(['settings', ...settings]),
    onSettingsAck: () => seen.push(['ack']),
    onPing: (data, isAnswer) => seen.push(['ping', data.toString(), isAnswer]),
    onGoaway: (last, code, reason) => seen.push(['goaway', last, code, reason]),
    onWindowUpdate: (stream, increment) => seen.push(['window', stream, increment]),
    onIgnored: () => seen.push(['ignored']),
  }
  return { reader: new Reader(events), seen }
}

const settings = frame(frameType.settings, 0, 0, [0, 3, 0, 0, 0, 100])
const everything = Buffer.concat([
  settings,
  frame(frameType.settings, flag.ack, 0),
  frame(frameType.headers, flag.endHeaders, 1, [0x88]),
  // Padding of 2 bytes, and a priority.
  frame(
    frameType.headers,
    flag.endHeaders | flag.padded | flag.priority | flag.endStream,
    3,
    [2, 0, 0, 0, 0, 7, 0x89, 0, 0],
  ),
  frame(frameType.data, flag.padded, 1, [3, ...Buffer.from('body'), 0, 0, 0]),
  frame(frameType.data, flag.endStream, 1, Buffer.alloc(16_384, 'x')),
  frame(frameType.headers, 0, 5, [0x48]),
  frame(frameType.continuation, 0, 5, [0x03, 0x35]),
  frame(frameType.continuation, flag.endHeaders, 5, [0x30, 0x33]),
  frame(frameType.priority, 0, 9, [0, 0, 0, 0, 1]),
  frame(frameType.ping, 0, 0, Buffer.from('12345678')),
  frame(frameType.windowUpdate, 0, 1, [0x80, 0, 1, 0]),
  frame(0xbb, 0xff, 77, [1, 2, 3]),
  frame(frameType.reset, 0, 7, [0, 0, 0, 8]),
  frame(frameType.goaway, 0, 0, [0, 0, 0, 5, 0, 0, 0, 0, ...Buffer.from('{"reason":"Shutdown"}')]),
])
const expected = [
  ['settings', [3, 100]],
  ['ack'],
  ['headers', 1, ':status 200', false],
  ['headers', 3, ':status 204', true],
  ['data', 1, 'body', 8, false],
  ['data', 1, 'x'.repeat(16_384), 16_384, true],
  ['ignored'],
  ['headers', 5, ':status 503', false],
  ['ignored'],
  ['ping', '12345678', false],
  ['window', 1, 256],
  ['ignored'],
  ['reset', 7, 8],
  ['goaway', 5, 0, '{"reason":"Shutdown"}'],
]

for (const size of [1, 2, 7, 10, 1_000, everything.length])
  test(`bytes that come in pieces of ${size} are the same events`, () => {
    const { reader: made, seen } = reader()
    for (let at = 0; at < everything.length; at += size)
      assert.equal(made.read(Buffer.from(everything.subarray(at, at + size))), undefined)
    assert.deepEqual(seen, expected)
  })

const { protocol, frameSize, enhanceYourCalm } = errorCode
const violations: readonly [string, Buffer, number][] = [
  ['a first frame that is not SETTINGS', frame(frameType.ping, 0, 0, Buffer.alloc(8)), protocol],
  ['an answer to SETTINGS before SETTINGS', frame(frameType.settings, flag.ack, 0), protocol],
  ...(
    [
      ['a frame that is too long', frame(frameType.data, 0, 1, Buffer.alloc(16_385)), frameSize],
      ['DATA without a stream', frame(frameType.data, 0, 0, [1]), protocol],
      ['HEADERS without a stream', frame(frameType.headers, 4, 0, [0x88]), protocol],
      ['padding as long as its frame', frame(frameType.data, flag.padded, 1, [1]), protocol],
      ['HEADERS with too few bytes for a priority', frame(frameType.headers, flag.priority, 1, [1]), frameSize],
      ['PRIORITY of the wrong size', frame(frameType.priority, 0, 1, [1]), frameSize],
      ['RST_STREAM of the wrong size', frame(frameType.reset, 0, 1, [1]), frameSize],
      ['SETTINGS with a stream', frame(frameType.settings, 0, 1), protocol],
      ['SETTINGS of the wrong size', frame(frameType.settings, 0, 0, [1]), frameSize],
      [
        'an answer to SETTINGS that has settings',
        frame(frameType.settings, flag.ack, 0, [0, 3, 0, 0, 0, 1]),
        frameSize,
      ],
      ['PING with a stream', frame(frameType.ping, 0, 1, Buffer.alloc(8)), protocol],
      ['PING of the wrong size', frame(frameType.ping, 0, 0, [1]), frameSize],
      ['GOAWAY of the wrong size', frame(frameType.goaway, 0, 0, [1]), frameSize],
      ['WINDOW_UPDATE of the wrong size', frame(frameType.windowUpdate, 0, 0, [1]), frameSize],
      ['PUSH_PROMISE', frame(frameType.pushPromise, 4, 1, [0, 0, 0, 2, 0x88]), protocol],
      ['CONTINUATION without HEADERS', frame(frameType.continuation, 4, 1, [0x88]), protocol],
      [
        'a frame within a header block',
        Buffer.concat([frame(frameType.headers, 0, 1, [0x88]), frame(frameType.ping, 0, 0, Buffer.alloc(8))]),
        protocol,
      ],
      [
        'CONTINUATION of another stream',
        Buffer.concat([frame(frameType.headers, 0, 1, [0x88]), frame(frameType.continuation, 4, 3, [0x88])]),
        protocol,
      ],
      [
        'more than 64 KB of CONTINUATION',
        Buffer.concat([
          frame(frameType.headers, 0, 1),
          ...Array.from({ length: 5 }, () => frame(frameType.continuation, 0, 1, Buffer.alloc(16_384))),
        ]),
        enhanceYourCalm,
      ],
    ] as const
  ).map(([name, bytes, code]): [string, Buffer, number] => [name, Buffer.concat([settings, bytes]), code]),
]
for (const [name, bytes, code] of violations)
  test(`${name} is a violation, and nothing is read after it`, () => {
    const { reader: made, seen } = reader()
    const error = made.read(bytes)
    assert.equal(error?.errorCode, code, error?.message)
    const { length } = seen
    assert.equal(made.read(settings), error)
    assert.equal(seen.length, length)
  })
