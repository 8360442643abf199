// The elements of `users` (§2.5), byte by byte. Ids without escapes are never looked at one by one: their bytes go on as they came,
// a newline between them.

import { isUtf8 } from 'node:buffer'
import { backslash, closeArray, comma, isSpace, openArray, openObject, quote } from '../contract/scan.ts'
import type { Texts } from '../store/scratch.ts'
import { Refused } from './refusal.ts'

export interface IdReader {
  /** So far. */
  readonly ids: number
  /** Whether the end of the array was read. */
  readonly ended: boolean
  /** From behind the opening bracket, over as many chunks as it takes. @returns where the next byte that is not its own stands */
  read(chunk: Uint8Array, from: number): number
  /** What is whole by now, if it is so many bytes; good until the next one is asked for. */
  flush(atLeast: number): Generator<Texts>
}

/** No chunk may be larger. */
export const sliceBytes = 64 * 1024

export const isNumber = (c: number): boolean => c === 45 || (c >= 48 && c <= 57)
export const shownUnit = (c: number): string => JSON.stringify(String.fromCharCode(c))

/** @param mostIdBytes the longest id. All refuse by throwing Refused */
export function createIdReader(mostIdBytes: number): IdReader {
  // An escape takes six bytes for one.
  const mostRawBytes = 6 * mostIdBytes
  const out = new Uint8Array(2 * sliceBytes + mostRawBytes + 8)
  let o = 0
  /** Where the id that is being read begins in `out`: all before it is whole. */
  let start = 0
  let notAscii = 0
  let texts: string[] = []
  let ids = 0
  let at: 'first' | 'value' | 'id' | 'after' | 'end' = 'first'
  let slow = false
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
        else throw new Refused('not_json', `after users[${ids - 1}] stands ${shownUnit(c)}, not a comma or ]`)
      } else if (c === quote) at = 'id'
      else if (c === closeArray && at === 'first') at = 'end'
      else throw notAText(c)
    }
    return i
  }

  /** The hot loop: 5 million ids pass through it. Ends with the chunk, or with an id that no other one follows at once. */
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
        takeId()
        if (i + 1 >= end || chunk[i] !== comma || chunk[i + 1] !== quote) {
          at = 'after'
          return i
        }
        i += 2
      } else if (c === backslash) {
        slow = true
        out[o++] = c
        if (i < end) out[o++] = chunk[i++] as number
        else afterBackslash = true
      } else if (c < 32) throw new Refused('not_json', `users[${ids}] holds a control character that is not escaped`)
    }
    if (o - start > mostRawBytes) throw tooLong()
    return i
  }

  function takeId(): void {
    const length = o - start
    if (length === 0) throw new Refused('wrong_content', `users[${ids}] is an empty text`)
    if (slow) texts.push(unescaped())
    else {
      if (length > mostIdBytes) throw tooLong()
      out[o++] = 10
      start = o
    }
    ids++
  }

  function unescaped(): string {
    const raw = out.subarray(start, o)
    o = start
    slow = false
    let id: string
    try {
      if (!isUtf8(raw)) throw new Error('it is not UTF-8')
      id = JSON.parse(`"${Buffer.from(raw.buffer, raw.byteOffset, raw.length).toString()}"`) as string
    } catch (error) {
      throw new Refused('not_json', `users[${ids}]: ${(error as Error).message}`)
    }
    if (Buffer.byteLength(id) > mostIdBytes) throw tooLong()
    if (id.includes('\0') || !id.isWellFormed())
      throw new Refused('wrong_content', `users[${ids}] holds U+0000 or half of a character, which no store keeps`)
    return id
  }

  function tooLong(): Refused {
    return new Refused('too_long', `users[${ids}] is longer than ${mostIdBytes} bytes`)
  }

  function notAText(c: number): Refused {
    const what = c === openObject ? 'an object' : c === openArray ? 'an array' : isNumber(c) ? 'a number' : ''
    if (what !== '') return new Refused('wrong_content', `users[${ids}] is ${what}, not a text`)
    if (c === 110 || c === 116 || c === 102) return new Refused('wrong_content', `users[${ids}] is not a text`)
    return new Refused('not_json', `at users[${ids}] stands ${shownUnit(c)}`)
  }

  function* flush(atLeast: number): Generator<Texts> {
    if (texts.length > 0) {
      const piece = { texts }
      texts = []
      yield piece
    }
    if (start === 0 || start < atLeast) return
    const lines = out.subarray(0, start)
    if (notAscii > 127 && !isUtf8(lines)) throw new Refused('not_json', 'an id is not UTF-8')
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
