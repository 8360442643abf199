import { encodeEvent, notificationJson } from './notification.ts'
import { type ChangedRow, type ChangeRange, countsOf } from './store.ts'
import type { Stream } from './stream.ts'

/** Most notifications that one read gets for one user. */
const readLimit = 100

export interface UserRead extends ChangeRange {
  /** The streams of the user that take part in this read. A stream that opens during the read waits for the next one. */
  readonly streams: readonly Stream[]
}

/** The next read for a user: after the lowest position of the user's streams. Undefined: all streams wait for their clients. */
export function planRead(brand: string, userId: string, all: Iterable<Stream>): UserRead | undefined {
  const streams = [...all].filter(({ behind }) => !behind)
  if (streams.length === 0) return undefined
  const positions = streams.flatMap(({ after }) => (after === undefined ? [] : [after]))
  // All streams start now: the range is empty, but the read still returns the last number.
  if (positions.length === 0) return { brand, userId, streams, after: 0, upto: 0 }
  const after = Math.min(...positions)
  return { brand, userId, streams, after, upto: after + readLimit }
}

export interface WritePlan {
  /** One write for each stream. Streams at the same position share the bytes. */
  readonly writes: readonly (readonly [Stream, Buffer])[]
  /** At least one stream needs another read. */
  readonly more: boolean
}

/**
 * Decides which events some streams of a user are sent next, and advances them. A stream gets at
 * most `bufferBytes` at a time. It gets nothing, and does not advance, while its client has not read the previous events.
 */
export function planWrites(
  streams: readonly Stream[],
  { upto }: UserRead,
  { last, counts, events }: Changes,
  limits: { readonly replay: number; readonly bufferBytes: number },
): WritePlan {
  const encodeOnce = remember(encodeEvent)
  const join = remember((...parts: readonly Buffer[]) => Buffer.concat(parts))
  const writes: [Stream, Buffer][] = []
  let more = false
  for (const stream of streams) {
    const parts: Buffer[] = []
    if (stream.after === undefined) {
      stream.after = last
    } else if (!stream.ready && (stream.after > last || last - stream.after > limits.replay)) {
      // The stream missed too much, or its number was never assigned: the client must fetch the list.
      stream.after = last
      parts.push(encodeOnce('reset', last))
    }
    let freeBytes = stream.blocked ? 0 : limits.bufferBytes
    let sent = false
    for (const event of events) {
      if (event.changed <= stream.after) continue
      if (freeBytes <= 0) {
        stream.behind = true
        break
      }
      freeBytes -= event.bytes.length
      stream.after = event.changed
      sent = true
      event.streams++
      parts.push(event.bytes)
    }
    if (!stream.behind) {
      stream.after = Math.max(stream.after, Math.min(upto, last))
      // Counts also change when a notification expires or is deleted. A client that resumes has old ones.
      if (sent || counts !== stream.counts) parts.push(encodeOnce('counts', stream.after, counts))
      stream.counts = counts
      if (stream.after < last) {
        more = true
      } else if (!stream.ready) {
        stream.ready = true
        parts.push(encodeOnce('ready', last))
      }
    }
    if (parts.length > 0) writes.push([stream, join(...parts)])
  }
  return { writes, more }
}

/** Calls the function again only if the arguments differ from those of the last call. */
function remember<Arguments extends readonly unknown[], Result>(
  call: (...given: Arguments) => Result,
): (...given: Arguments) => Result {
  let last: { readonly given: Arguments; readonly result: Result } | undefined
  return (...given) => {
    const same = last?.given.length === given.length && given.every((value, i) => value === last?.given[i])
    if (!last || !same) last = { given, result: call(...given) }
    return last.result
  }
}

/** The changes of one user since a position. */
export interface Changes {
  readonly last: number
  /** As JSON. */
  readonly counts: string
  readonly events: readonly EncodedChange[]
}

/** Encodes the rows of one user, which all have the same counts. */
export function encodeChanges(rows: readonly ChangedRow[]): Changes {
  const last = Number(rows[0]?.last ?? 0)
  return {
    last,
    counts: JSON.stringify(countsOf(rows[0])),
    events: rows.flatMap((row) => (row.seq === null ? [] : [encode(row)])),
  }
}

export interface EncodedChange {
  readonly changed: number
  readonly ref: string
  readonly isNew: boolean
  readonly bytes: Buffer
  /** The number of streams that it was written to. */
  streams: number
}

function encode(row: ChangedRow): EncodedChange {
  const changed = Number(row.changed)
  const bytes = encodeEvent('notification', changed, notificationJson(row))
  return { changed, ref: row.ref, isNew: changed === Number(row.seq), bytes, streams: 0 }
}
