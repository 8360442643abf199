// One byte stream into the reader: it never throws, and the pieces in which the bytes arrive make no difference.

import assert from 'node:assert/strict'
import { Reader, type ReaderEvents } from '../../src/base/http2/reader.ts'

export function readInPieces(bytes: Buffer, pieceBytes: number): void {
  const whole = new Log()
  const inPieces = new Log()
  const expected = new Reader(whole).read(bytes)
  const reader = new Reader(inPieces)
  let error: ReturnType<Reader['read']>
  for (let at = 0; at < bytes.length && !error; at += pieceBytes)
    error = reader.read(bytes.subarray(at, at + pieceBytes))
  // A frame that is too large is refused by its head, which may come before the frames of its piece are read.
  assert.equal(error?.errorCode, expected?.errorCode)
  assert.equal(inPieces.text, whole.text)
  if (!error) return
  const events = inPieces.text
  assert.equal(reader.read(bytes), error, 'nothing is read after an error')
  assert.equal(inPieces.text, events)
}

/** The events as text. */
class Log implements ReaderEvents {
  text = ''
  onHeaders(stream: number, fields: readonly string[], ends: boolean): void {
    this.text += `headers ${stream} ${fields.join('|')} ${ends}\n`
  }
  onData(stream: number, bytes: Buffer, length: number, ends: boolean): void {
    this.text += `data ${stream} ${bytes.toString('latin1')} ${length} ${ends}\n`
  }
  onReset(stream: number, code: number): void {
    this.text += `reset ${stream} ${code}\n`
  }
  onSettings(settings: readonly (readonly [number, number])[]): void {
    this.text += `settings ${settings.join(' ')}\n`
  }
  onSettingsAck(): void {
    this.text += 'ack\n'
  }
  onPing(data: Buffer, isAnswer: boolean): void {
    this.text += `ping ${data.toString('hex')} ${isAnswer}\n`
  }
  onGoaway(lastStream: number, code: number, reason: string): void {
    this.text += `goaway ${lastStream} ${code} ${reason}\n`
  }
  onWindowUpdate(stream: number, increment: number): void {
    this.text += `window ${stream} ${increment}\n`
  }
  onIgnored(): void {
    this.text += 'ignored\n'
  }
}
