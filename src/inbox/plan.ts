import { frame, notificationJson } from './notification.ts'
import type { News, Wanted } from './store.ts'
import type { Stream } from './stream.ts'

/** Most events that are read for one user at a time. */
const window = 100

export interface Question extends Wanted {
  /** Those of this user's streams that take part in this read. Who joins during it waits for the next. */
  readonly streams: readonly Stream[]
}

/** What to read for a user: from the lowest number that one of the streams has. Undefined where all wait for their clients. */
export function question(brand: string, userId: string, all: Iterable<Stream>): Question | undefined {
  const streams = [...all].filter(({ full }) => !full)
  if (streams.length === 0) return undefined
  const starts = streams.flatMap(({ after }) => (after === undefined ? [] : [after]))
  // All of them want only what is to come: an empty range, which still tells the last number.
  if (starts.length === 0) return { brand, userId, streams, after: 0, upto: 0 }
  const after = Math.min(...starts)
  return { brand, userId, streams, after, upto: after + window }
}

export interface Plan {
  readonly writes: readonly (readonly [Stream, Buffer])[]
  /** Each notification with the number of streams that get it. */
  readonly shown: readonly { readonly ref: string; readonly streams: number }[]
  /** There is more to read for one of them. */
  readonly more: boolean
}

/**
 * Decides what each of a user's streams is sent next, and moves them on. Each event is encoded once. A stream gets
 * at most `bufferBytes` at a time, and none while its client has not read the last ones: it stays where it is.
 */
export function plan(
  { streams, upto }: Question,
  rows: readonly News[],
  limits: { readonly replay: number; readonly bufferBytes: number },
): Plan {
  const last = Number(rows[0]?.last ?? 0)
  const events = rows.flatMap((row) => (row.seq === null ? [] : [encode(row, Number(row.seq))]))
  const writes: [Stream, Buffer][] = []
  let more = false
  for (const stream of streams) {
    if (stream.after === undefined) {
      stream.after = last
    } else if (!stream.ready && (stream.after > last || last - stream.after > limits.replay)) {
      // It comes back from too far behind, or with a number that this store never gave: the list is the truth.
      stream.after = last
      writes.push([stream, frame('reset', last)])
    }
    let room = stream.blocked ? 0 : limits.bufferBytes
    for (const event of events) {
      if (event.seq <= stream.after) continue
      if (room <= 0) {
        stream.full = true
        break
      }
      room -= event.bytes.length
      stream.after = event.seq
      event.streams++
      writes.push([stream, event.bytes])
    }
    if (stream.full) continue
    stream.after = Math.max(stream.after, Math.min(upto, last))
    if (stream.after < last) {
      more = true
    } else if (!stream.ready) {
      stream.ready = true
      writes.push([stream, frame('ready', last)])
    }
  }
  return { writes, more, shown: events.filter((event) => event.streams > 0) }
}

function encode(row: News, seq: number): { seq: number; ref: string; bytes: Buffer; streams: number } {
  return { seq, ref: row.ref, bytes: frame('notification', seq, notificationJson(row)), streams: 0 }
}
