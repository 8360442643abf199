import { setImmediate as nextTurn } from 'node:timers/promises'
import type { TokenRevocations } from '../../base/http/subscriber-token.ts'
import { clock } from '../../base/runtime/clock.ts'
import { emit } from '../../base/runtime/events.ts'
import type { Database } from '../../base/store/database.ts'
import { unlessUnavailable } from '../../base/store/store-unavailable.ts'
import { encodeChanges, planRead, planWrites, type UserRead } from './plan.ts'
import { type ChangedRow, changesOp } from './store.ts'
import type { EndReason, Stream } from './stream.ts'
import { topicOf } from './topic.ts'

/** Most users in one read, and most socket writes in one turn of the event loop: limits that keep other work from waiting. */
const usersPerRead = 200
const writesPerTurn = 250

export interface HubOptions {
  /** The database of a brand. */
  readonly databaseOf: (brand: string) => Pick<Database, 'read' | 'onWake'>
  /** Interval of the pings of a stream. Must be shorter than the idle timeout of each proxy. */
  readonly pingMs: number
  /** Most missed events that a reconnected stream is sent. If it missed more, it gets `reset` and must fetch the list. */
  readonly replay: number
  /** Most bytes that are buffered for one client, plus at most one event. */
  readonly bufferBytes: number
  /** A client that has not read its buffered bytes for this time is disconnected. It can resume from its last event. */
  readonly stallMs: number
  /** Most open streams; a further stream is answered 503. */
  readonly streams: number
  /** Most open streams of one user. A further stream ends the oldest one. */
  readonly streamsPerUser: number
  /**
   * Whether this user may see the inbox now (docs/contributing/decisions.md). Called for each list and stream, before notifications are
   * written, and with each ping; rejects if that is unknown.
   */
  readonly allowed?: ((brand: string, userId: string) => Promise<boolean>) | undefined
  /** Ends the streams whose token is revoked. */
  readonly revocations?: TokenRevocations | undefined
  readonly now: () => number
}

export const hubDefaults = {
  pingMs: 15_000,
  replay: 500,
  bufferBytes: 256 * 1024,
  stallMs: 30_000,
  streams: 10_000,
  streamsPerUser: 10,
}

export interface Hub {
  /**
   * Makes room for another stream of this user. If the user has too many, the oldest one ends: its client may have gone without
   * closing the connection, as a phone does that changes networks.
   *
   * @returns false if this process has too many streams
   */
  makeRoom(brand: string, userId: string): boolean
  add(stream: Stream): void
  onDrain(stream: Stream): void
  onEnd(stream: Stream, why: EndReason): void
  /** Ends all streams, and each stream that is added later. */
  stop(): void
}

interface UserStreams {
  readonly brand: string
  readonly userId: string
  readonly streams: Set<Stream>
  readonly unsubscribe: () => void
}

/**
 * All open streams of this process. New notifications and missed ones (since the Last-Event-ID) are sent in the same way: the
 * user is marked as stale, all stale users are read together, and each stream gets the notifications that it lacks.
 */
export function createHub(options: HubOptions): Hub {
  const { databaseOf, pingMs, stallMs, allowed, revocations, now } = options
  const users = new Map<string, UserStreams>()
  /** The users to read, each with the streams that lack events. */
  const stale = new Map<UserStreams, Set<Stream> | 'all'>()
  let timer: NodeJS.Timeout | undefined
  let reading = false
  let stopped = false
  let openStreams = 0
  revocations?.onChange(() => {
    for (const stream of allStreams()) if (revocations.isRevoked(stream)) stream.end('revoked')
  })

  return {
    makeRoom(brand, userId) {
      const own = users.get(topicOf(brand, userId))?.streams
      if (own && own.size >= options.streamsPerUser) [...own][0]?.end('replaced')
      return openStreams < options.streams
    },

    add(stream) {
      if (stopped) return stream.end('stopping')
      if (revocations?.isRevoked(stream)) return stream.end('revoked')
      const { brand, userId } = stream
      const topic = topicOf(brand, userId)
      let user = users.get(topic)
      if (!user) {
        user = { brand, userId, streams: new Set(), unsubscribe: databaseOf(brand).onWake(topic, () => refresh(topic)) }
        users.set(topic, user)
      }
      user.streams.add(stream)
      openStreams++
      stream.nextPingAt = now() + pingMs
      stream.lastUnblockedAt = now()
      timer ??= clock.setInterval(() => void checkStreams(), 1000).unref()
      emit('inbox.opened', { brand, userId, streams: user.streams.size })
      refresh(topic, stream)
    },

    onDrain(stream) {
      if (!stream.behind) return
      stream.behind = false
      refresh(topicOf(stream.brand, stream.userId), stream)
    },

    onEnd(stream, why) {
      const { brand, userId } = stream
      const topic = topicOf(brand, userId)
      const user = users.get(topic)
      if (!user?.streams.delete(stream)) return
      openStreams--
      emit('inbox.closed', { brand, userId, streams: user.streams.size, why })
      if (user.streams.size > 0) return
      user.unsubscribe()
      users.delete(topic)
      stale.delete(user)
      if (users.size > 0) return
      clock.clearInterval(timer)
      timer = undefined
    },

    stop() {
      stopped = true
      for (const stream of allStreams()) stream.end('stopping')
    },
  }

  /** @param stream only this stream lacks events */
  function refresh(topic: string, stream?: Stream): void {
    const user = users.get(topic)
    if (!user) return
    const lacking = stale.get(user) ?? new Set()
    stale.set(user, stream && lacking !== 'all' ? lacking.add(stream) : 'all')
    if (!reading) void readStale()
  }

  async function readStale(): Promise<void> {
    reading = true
    try {
      // One turn later, so that users who become stale at the same time are read together.
      await nextTurn()
      while (stale.size > 0) {
        const batch = [...stale].slice(0, usersPerRead)
        for (const [user] of batch) stale.delete(user)
        const reads = batch.flatMap(
          ([{ brand, userId, streams }, lacking]) =>
            planRead(brand, userId, lacking === 'all' ? streams : [...lacking].filter((one) => streams.has(one))) ?? [],
        )
        const groups = Map.groupBy(reads, ({ brand }) => unlessUnavailable(() => databaseOf(brand)))
        await Promise.all([...groups].map(([database, own]) => database && readChanges(database, own)))
      }
    } finally {
      reading = false
    }
  }

  async function readChanges(database: Pick<Database, 'read'>, reads: readonly UserRead[]): Promise<void> {
    try {
      await writeStreams(reads, await database.read(changesOp(reads, now())))
    } catch {
      // The store logs its failure. The next ping of each stream reads again.
    }
  }

  async function writeStreams(reads: readonly UserRead[], rows: readonly ChangedRow[]): Promise<void> {
    const byTopic = Map.groupBy(rows, (row) => topicOf(row.brand, row.user_id))
    let written = 0
    const verdicts = await Promise.all(reads.map((read) => checkAllowed(read, byTopic)))
    for (const [i, read] of reads.entries()) {
      const { brand, userId, streams } = read
      const topic = topicOf(brand, userId)
      if (verdicts[i] === 'refused') for (const stream of streams) stream.end('refused')
      // 'unknown': the streams keep their positions, and the next ping tries again.
      if (verdicts[i] !== 'allowed') continue
      const changes = encodeChanges(byTopic.get(topic) ?? [])
      for (let from = 0; from < streams.length; from += writesPerTurn) {
        const some = streams.slice(from, from + writesPerTurn)
        const { writes, more } = planWrites(some, read, changes, options)
        for (const [stream, bytes] of writes) {
          if (++written % writesPerTurn === 0) await nextTurn()
          stream.write(bytes)
        }
        for (const stream of some) {
          // The socket accepted all bytes at once, so it emits no drain event.
          const unblocked = stream.behind && !stream.blocked
          if (unblocked) stream.behind = false
          if (more || unblocked) refresh(topic, stream)
        }
      }
      for (const { isNew, ref, streams: count } of changes.events)
        if (isNew && count > 0) emit('inbox.shown', { brand, userId, ref, streams: count })
    }
  }

  async function checkAllowed(
    { brand, userId }: UserRead,
    rows: ReadonlyMap<string, readonly ChangedRow[]>,
  ): Promise<'allowed' | 'refused' | 'unknown'> {
    const nothingToShow = !rows.get(topicOf(brand, userId))?.some(({ seq }) => seq !== null)
    return nothingToShow ? 'allowed' : askAllowed(brand, userId)
  }

  async function askAllowed(brand: string, userId: string): Promise<'allowed' | 'refused' | 'unknown'> {
    if (!allowed) return 'allowed'
    try {
      return (await allowed(brand, userId)) ? 'allowed' : 'refused'
    } catch {
      return 'unknown'
    }
  }

  /** A page whose stream ends asks for the list, is refused, and shows no notification any more. */
  async function endIfRefused({ brand, userId, streams }: UserStreams): Promise<void> {
    if ((await askAllowed(brand, userId)) === 'refused') for (const stream of [...streams]) stream.end('refused')
  }

  /**
   * Once a second: sends due pings, and ends streams with an expired token, of a user who was excluded, or of a client that does not
   * read.
   */
  async function checkStreams(): Promise<void> {
    const time = now()
    const due = new Set<UserStreams>()
    let written = 0
    for (const stream of allStreams()) {
      if (!stream.blocked) stream.lastUnblockedAt = time
      if (time >= stream.expiresAt) {
        stream.end('expired')
      } else if (time - stream.lastUnblockedAt >= stallMs) {
        stream.end('slow')
      } else if (time >= stream.nextPingAt) {
        if (++written % writesPerTurn === 0) await nextTurn()
        stream.nextPingAt = time + pingMs
        stream.write(ping)
        // A wake may be lost, so each ping reads too.
        const topic = topicOf(stream.brand, stream.userId)
        refresh(topic, stream)
        const user = users.get(topic)
        if (user) due.add(user)
      }
    }
    // In one turn, so that the users of a brand are one look-up.
    for (const user of due) void endIfRefused(user)
  }

  function allStreams(): Stream[] {
    return [...users.values()].flatMap(({ streams }) => [...streams])
  }
}

const ping = Buffer.from(': still here\n\n')
