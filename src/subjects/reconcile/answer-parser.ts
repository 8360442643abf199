// Parses the streamed answer of §2.5, {"users": […], "timestamp": …}, in constant memory. The ids are passed on while they arrive
// (id-reader.ts). The rest of the answer is small: it is kept and parsed with JSON.parse at the end.

import { isUtf8 } from 'node:buffer'
import type { Texts } from '../../base/store/scratch.ts'
import {
  backslash,
  closeArray,
  closeObject,
  colon,
  comma,
  isSpace,
  openArray,
  openObject,
  quote,
} from '../../contract/scan.ts'
import { shown } from '../../contract/shown.ts'
import { AnswerRefused } from './answer-refused.ts'
import { createIdReader, isNumber, shownByte, sliceBytes } from './id-reader.ts'
import { readTimestamp } from './timestamp.ts'

export interface AnswerParser {
  /** The number of ids so far. */
  readonly ids: number
  /** Returns the complete ids. Each piece is valid until the next is requested. @throws AnswerRefused for an invalid answer */
  push(chunk: Uint8Array): Generator<Texts>
  /** Returns the last ids and the time of the data, in epoch milliseconds. @throws AnswerRefused for an incomplete or invalid answer */
  end(): { readonly texts: Generator<Texts>; readonly timestamp: number }
}

/** Ids are passed on in pieces of at least this size. */
const pieceBytes = sliceBytes
/** The limit of all members except `users`. */
const maxEnvelopeBytes = 64 * 1024

const byteOrderMark = [0xef, 0xbb, 0xbf]

/**
 * @param maxIdBytes the maximum length of an id
 * @example
 * const parser = createAnswerParser(1_000)
 * for (const chunk of ['{"users":["1001","10', '02"],"timestamp":"2020-01-01T10:00:00Z"}'])
 *   for (const piece of parser.push(Buffer.from(chunk))) store(piece)
 * const { texts, timestamp } = parser.end() // timestamp: 1577872800000
 * for (const piece of texts) store(piece) // {lines: '1001\n1002\n'}
 */
export function createAnswerParser(maxIdBytes: number): AnswerParser {
  const users = createIdReader(maxIdBytes)
  let hasUsers = false
  const envelope = Buffer.allocUnsafe(maxEnvelopeBytes)
  let envelopeLength = 0
  let depth = 0
  let inString = false
  let escaped = false
  let ended = false
  let expectsKey = false
  let keyAt = -1
  let key: string | undefined
  const keys = new Set<string>()
  let atValue = false

  const inUsers = (): boolean => hasUsers && !users.ended

  function readEnvelope(chunk: Uint8Array, from: number): number {
    for (let i = from; i < chunk.length; i++) {
      const c = chunk[i] as number
      if (isSpace(c) && !inString) {
        if (envelopeLength > 0 && envelope[envelopeLength - 1] !== 32) keepByte(32)
        continue
      }
      if (depth === 0) checkOutside(c)
      keepByte(c)
      if (inString) readString(c)
      else if (c === openArray && depth === 1 && atValue && key === 'users') {
        keepByte(closeArray) // leaves `[]` for JSON.parse
        hasUsers = true
        atValue = false
        return i + 1
      } else {
        if (c === quote) {
          inString = true
          if (depth === 1 && expectsKey) keyAt = envelopeLength - 1
        } else if (c === openArray || c === openObject) depth++
        else if (c === closeArray || c === closeObject) ended = --depth === 0
        atValue = c === colon && depth === 1
        expectsKey = depth === 1 && (c === comma || c === openObject)
      }
    }
    return chunk.length
  }

  function keepByte(c: number): void {
    if (envelopeLength === maxEnvelopeBytes)
      throw new AnswerRefused('wrong_content', `the members other than users are longer than ${maxEnvelopeBytes} bytes`)
    envelope[envelopeLength++] = c
  }

  function checkOutside(c: number): void {
    if (ended) throw new AnswerRefused('not_json', 'there is text after its end')
    if (c === openObject || (envelopeLength < 3 && byteOrderMark[envelopeLength] === c)) return
    const json = c === openArray || c === quote || isNumber(c)
    throw new AnswerRefused(json ? 'wrong_content' : 'not_json', `it begins with ${shownByte(c)}, not with {`)
  }

  function readString(c: number): void {
    if (escaped) escaped = false
    else if (c === backslash) escaped = true
    else if (c === quote) {
      inString = false
      if (keyAt >= 0) readKey()
    }
  }

  function readKey(): void {
    const raw = envelope.toString('utf8', keyAt, envelopeLength)
    keyAt = -1
    expectsKey = false
    try {
      key = JSON.parse(raw) as string
    } catch (error) {
      throw new AnswerRefused('not_json', (error as Error).message)
    }
    // JSON.parse would silently use the last value.
    if (keys.has(key)) throw new AnswerRefused('wrong_content', `the member ${shown(key)} occurs twice`)
    keys.add(key)
  }

  function readMembers(): Readonly<Record<string, unknown>> {
    if (envelopeLength === 0) throw new AnswerRefused('cut_short', 'the answer is empty')
    if (!ended)
      throw new AnswerRefused(
        'cut_short',
        `it ends ${inUsers() ? `after ${users.ids} ids, inside users` : 'inside its object'}`,
      )
    const bytes = envelope.subarray(0, envelopeLength)
    try {
      if (!isUtf8(bytes)) throw new Error('it is not UTF-8')
      return JSON.parse(bytes.toString('utf8').replace(/^\ufeff/, '')) as Record<string, unknown>
    } catch (error) {
      throw new AnswerRefused('not_json', (error as Error).message)
    }
  }

  return {
    get ids() {
      return users.ids
    },
    *push(chunk) {
      for (let from = 0; from < chunk.length; from += sliceBytes) {
        const slice = chunk.subarray(from, from + sliceBytes)
        for (let i = 0; i < slice.length; ) i = inUsers() ? users.read(slice, i) : readEnvelope(slice, i)
        yield* users.flush(pieceBytes)
      }
    },
    end() {
      const { error, timestamp, users: value } = readMembers()
      if (error !== undefined && error !== null)
        throw new AnswerRefused('error', typeof error === 'string' ? error.slice(0, 500) : shown(error, 500))
      if (!hasUsers)
        throw new AnswerRefused('wrong_content', value === undefined ? 'it has no users' : 'users is not an array')
      if (timestamp === undefined || timestamp === null) throw new AnswerRefused('timestamp', 'it has no timestamp')
      const at = typeof timestamp === 'string' ? readTimestamp(timestamp) : undefined
      if (at === undefined) throw new AnswerRefused('timestamp', `its timestamp cannot be read: ${shown(timestamp)}`)
      return { texts: users.flush(0), timestamp: at }
    },
  }
}
