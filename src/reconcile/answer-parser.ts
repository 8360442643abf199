// §2.5: {"users": […], "timestamp": …} as it streams in, in constant memory. The ids go on as they come (id-reader.ts); what
// stands around them is small, is kept, and is read by JSON.parse in the end.

import { isUtf8 } from 'node:buffer'
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
} from '../contract/scan.ts'
import { shown } from '../contract/shown.ts'
import type { Texts } from '../store/scratch.ts'
import { createIdReader, isNumber, shownUnit, sliceBytes } from './id-reader.ts'
import { Refused } from './refusal.ts'
import { readTimestamp } from './timestamp.ts'

export interface AnswerParser {
  /** Ids so far. */
  readonly ids: number
  /** What is whole by now; good until the next one is asked for. @throws Refused as soon as it is clear that this is no answer */
  push(chunk: Uint8Array): Generator<Texts>
  /** The rest, and the time of the data in epoch milliseconds. @throws Refused if the answer was not whole or is none */
  end(): { readonly texts: Generator<Texts>; readonly timestamp: number }
}

/** Ids are handed on when there is so much of them. */
const pieceBytes = sliceBytes
/** All that is not `users`. */
const mostAround = 64 * 1024

const byteOrderMark = [0xef, 0xbb, 0xbf]

/**
 * @param mostIdBytes the longest id
 * @example
 * const parser = createAnswerParser(1_000)
 * for (const chunk of ['{"users":["1001","10', '02"],"timestamp":"2020-01-01T10:00:00Z"}'])
 *   for (const piece of parser.push(Buffer.from(chunk))) take(piece)
 * const { texts, timestamp } = parser.end() // timestamp: 1577872800000
 * for (const piece of texts) take(piece) // {lines: '1001\n1002\n'}
 */
export function createAnswerParser(mostIdBytes: number): AnswerParser {
  const users = createIdReader(mostIdBytes)
  let hasUsers = false
  const around = Buffer.allocUnsafe(mostAround)
  let a = 0
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

  function readAround(chunk: Uint8Array, from: number): number {
    for (let i = from; i < chunk.length; i++) {
      const c = chunk[i] as number
      if (isSpace(c) && !inString) {
        if (a > 0 && around[a - 1] !== 32) keep(32)
        continue
      }
      if (depth === 0) begin(c)
      keep(c)
      if (inString) readString(c)
      else if (c === openArray && depth === 1 && atValue && key === 'users') {
        keep(closeArray) // it stands there as [], for JSON.parse
        hasUsers = true
        atValue = false
        return i + 1
      } else {
        if (c === quote) {
          inString = true
          if (depth === 1 && expectsKey) keyAt = a - 1
        } else if (c === openArray || c === openObject) depth++
        else if (c === closeArray || c === closeObject) ended = --depth === 0
        atValue = c === colon && depth === 1
        expectsKey = depth === 1 && (c === comma || c === openObject)
      }
    }
    return chunk.length
  }

  function keep(c: number): void {
    if (a === mostAround) throw new Refused('wrong_content', `there are more than ${mostAround} bytes beside users`)
    around[a++] = c
  }

  function begin(c: number): void {
    if (ended) throw new Refused('not_json', 'something follows after its end')
    if (c === openObject || (a < 3 && byteOrderMark[a] === c)) return
    const json = c === openArray || c === quote || isNumber(c)
    throw new Refused(json ? 'wrong_content' : 'not_json', `it begins with ${shownUnit(c)}, not with {`)
  }

  function readString(c: number): void {
    if (escaped) escaped = false
    else if (c === backslash) escaped = true
    else if (c === quote) {
      inString = false
      if (keyAt >= 0) takeKey()
    }
  }

  function takeKey(): void {
    const raw = around.toString('utf8', keyAt, a)
    keyAt = -1
    expectsKey = false
    try {
      key = JSON.parse(raw) as string
    } catch (error) {
      throw new Refused('not_json', (error as Error).message)
    }
    // JSON.parse would take the last one and say nothing.
    if (keys.has(key)) throw new Refused('wrong_content', `${shown(key)} is there twice`)
    keys.add(key)
  }

  function readMembers(): Readonly<Record<string, unknown>> {
    if (a === 0) throw new Refused('cut_short', 'the answer is empty')
    if (!ended)
      throw new Refused(
        'cut_short',
        `it ends ${inUsers() ? `after ${users.ids} ids, inside users` : 'inside its object'}`,
      )
    const bytes = around.subarray(0, a)
    try {
      if (!isUtf8(bytes)) throw new Error('it is not UTF-8')
      return JSON.parse(bytes.toString('utf8').replace(/^\ufeff/, '')) as Record<string, unknown>
    } catch (error) {
      throw new Refused('not_json', (error as Error).message)
    }
  }

  return {
    get ids() {
      return users.ids
    },
    *push(chunk) {
      for (let from = 0; from < chunk.length; from += sliceBytes) {
        const slice = chunk.subarray(from, from + sliceBytes)
        for (let i = 0; i < slice.length; ) i = inUsers() ? users.read(slice, i) : readAround(slice, i)
        yield* users.flush(pieceBytes)
      }
    },
    end() {
      const { error, timestamp, users: given } = readMembers()
      if (error !== undefined && error !== null)
        throw new Refused('error', typeof error === 'string' ? error.slice(0, 500) : shown(error, 500))
      if (!hasUsers)
        throw new Refused('wrong_content', given === undefined ? 'it has no users' : 'users is not an array')
      if (timestamp === undefined || timestamp === null) throw new Refused('timestamp', 'it has no timestamp')
      const at = typeof timestamp === 'string' ? readTimestamp(timestamp) : undefined
      if (at === undefined) throw new Refused('timestamp', `its timestamp cannot be read: ${shown(timestamp)}`)
      return { texts: users.flush(0), timestamp: at }
    },
  }
}
