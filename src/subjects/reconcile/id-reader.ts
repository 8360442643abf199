// Reads the elements of `users` (§2.5) byte by byte. Ids without escapes are passed on as bytes, separated by newlines, without
// creating a string for each id.

import { isUtf8 } from 'node:buffer'
import type { Texts } from '../../base/store/scratch.ts'
import { backslash, closeArray, comma, isSpace, openArray, openObject, quote } from '../../contract/scan.ts'
import { AnswerRefused } from './answer-refused.ts'

export interface IdReader {
  /** The number of ids so far. */
  readonly ids: number
  /** Whether the end of the array was read. */
  readonly ended: boolean
  /** Reads from after the opening bracket, across any number of chunks. @returns the index of the first byte that was not read */
  read(chunk: Uint8Array, from: number): number
  /** Returns the complete ids, if they have this many bytes. Each piece is valid until the next is requested. */
  flush(atLeast: number): Generator<Texts>
}

/** The maximum size of a chunk. */
export const sliceBytes = 64 * 1024

export const isNumber = (c: number): boolean => c === 45 || (c >= 48 && c <= 57)
export const shownByte = (c: number): string => JSON.stringify(String.fromCharCode(c))

/** @param maxIdBytes the maximum length of an id. All functions of the reader throw AnswerRefused. */
export function createIdReader(maxIdBytes: number): IdReader {
  // An escape may have six bytes for one byte of the id.
  const maxRawBytes = 6 * maxIdBytes
  const out = new Uint8Array(2 * sliceBytes + maxRawBytes + 8)
  let o = 0
  /** The start of the current id in `out`. All ids before it are complete. */
  let start = 0
  let notAscii = 0
  let texts: string[] = []
  let ids = 0
  let at: 'first' | 'value' | 'id' | 'after' | 'end' = 'first'
  let hasEscape = false
  let afterBackslash = false

  function read(chunk: Uint8Array, from: number): number {
    let i = from
    while (i < chunk.length && at !== 'end') {
      if (at === 'id') {
        if (afterBackslash) out[o++] = chunk[i++] as number
        afterBackslash = false
        i = readId(chunk, i)
        continue
      }
      const c = chunk[i++] as number
      if (isSpace(c)) continue
      if (at === 'after') {
        if (c === comma) at = 'value'
        else if (c === closeArray) at = 'end'
        else
          throw new AnswerRefused(
            'not_json',
            `after users[${ids - 1}] there is ${shownByte(c)} instead of a comma or ]`,
          )
      } else if (c === quote) at = 'id'
      else if (c === closeArray && at === 'first') at = 'end'
      else throw notAString(c)
    }
    return i
  }

  /** The hot loop for millions of ids. It ends with the chunk, or after an id that is not directly followed by another. */
  function readId(chunk: Uint8Array, from: number): number {
    const end = chunk.length
    let i = from
    while (i < end) {
      let c = 0
      let w = o
      let high = notAscii
      while (i < end) {
        c = chunk[i++] as number
        if (c === quote || c === backslash || c < 32) break
        out[w++] = c
        high |= c
      }
      o = w
      notAscii = high
      if (c === quote) {
        endId()
        if (i + 1 >= end || chunk[i] !== comma || chunk[i + 1] !== quote) {
          at = 'after'
          return i
        }
        i += 2
      } else if (c === backslash) {
        hasEscape = true
        out[o++] = c
        if (i < end) out[o++] = chunk[i++] as number
        else afterBackslash = true
      } else if (c < 32) throw new AnswerRefused('not_json', `users[${ids}] contains an unescaped control character`)
    }
    if (o - start > maxRawBytes) throw tooLong()
    return i
  }

  function endId(): void {
    const length = o - start
    if (length === 0) throw new AnswerRefused('wrong_content', `users[${ids}] is an empty string`)
    if (hasEscape) texts.push(unescaped())
    else {
      if (length > maxIdBytes) throw tooLong()
      out[o++] = 10
      start = o
    }
    ids++
  }

  function unescaped(): string {
    const raw = out.subarray(start, o)
    o = start
    hasEscape = false
    let id: string
    try {
      if (!isUtf8(raw)) throw new Error('it is not UTF-8')
      id = JSON.parse(`"${Buffer.from(raw.buffer, raw.byteOffset, raw.length).toString()}"`) as string
    } catch (error) {
      throw new AnswerRefused('not_json', `users[${ids}]: ${(error as Error).message}`)
    }
    if (Buffer.byteLength(id) > maxIdBytes) throw tooLong()
    if (id.includes('\0') || !id.isWellFormed())
      throw new AnswerRefused(
        'wrong_content',
        `users[${ids}] contains U+0000 or half of a surrogate pair, which cannot be stored`,
      )
    return id
  }

  function tooLong(): AnswerRefused {
    return new AnswerRefused('too_long', `users[${ids}] is longer than ${maxIdBytes} bytes`)
  }

  function notAString(c: number): AnswerRefused {
    const type = c === openObject ? 'an object' : c === openArray ? 'an array' : isNumber(c) ? 'a number' : ''
    if (type !== '') return new AnswerRefused('wrong_content', `users[${ids}] is ${type}, not a string`)
    if (c === 110 || c === 116 || c === 102) return new AnswerRefused('wrong_content', `users[${ids}] is not a string`)
    return new AnswerRefused('not_json', `at users[${ids}] there is ${shownByte(c)}`)
  }

  function* flush(atLeast: number): Generator<Texts> {
    if (texts.length > 0) {
      const piece = { texts }
      texts = []
      yield piece
    }
    if (start === 0 || start < atLeast) return
    const lines = out.subarray(0, start)
    if (notAscii > 127 && !isUtf8(lines)) throw new AnswerRefused('not_json', 'an id is not UTF-8')
    yield { lines }
    out.copyWithin(0, start, o)
    o -= start
    start = 0
  }

  return {
    get ids() {
      return ids
    },
    get ended() {
      return at === 'end'
    },
    read,
    flush,
  }
}
