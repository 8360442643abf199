import { setImmediate as nextTurn } from 'node:timers/promises'
import { emit } from '../runtime/events.ts'
import type { Database } from '../store/database.ts'
import { plan, type Question, question } from './plan.ts'
import { type News, news } from './store.ts'
import type { Ended, Stream } from './stream.ts'
import { topicOf } from './topic.ts'

/** Users read together, and sockets written in one turn of the event loop, so that nothing else waits for long. */
const usersAtOnce = 200
const writesATurn = 500

export interface HubOptions {
  readonly database: Pick<Database, 'read' | 'onWake'>
  readonly beatMs: number
  readonly replay: number
  readonly bufferBytes: number
  readonly stallMs: number
  readonly streams: number
  readonly streamsPerUser: number
  /** May this user be shown something now (design §5.3)? Asked before each notification; rejecting means that nobody can tell. */
  readonly allowed?: ((brand: string, userId: string) => Promise<boolean>) | undefined
  readonly now: () => number
}

export interface Hub {
  /** Which limit another stream of this user would exceed. */
  full(brand: string, userId: string): 'user' | 'process' | undefined
  join(stream: Stream): void
  drained(stream: Stream): void
  left(stream: Stream, why: Ended): void
  /** Ends all streams, also those that are just joining. */
  stop(): void
}

interface Audience {
  readonly brand: string
  readonly userId: string
  readonly streams: Set<Stream>
  readonly deafen: () => void
}

/**
 * All open streams of this process. Whatever is new for a user, or missing since a stream's Last-Event-ID, takes one way:
 * a user is marked stale, read together with others that are, and each stream is sent what it lacks.
 */
export function createHub(options: HubOptions): Hub {
  const { database, beatMs, stallMs, allowed, now } = options
  const audiences = new Map<string, Audience>()
  const stale = new Set<Audience>()
  let timer: NodeJS.Timeout | undefined
  let draining = false
  let stopped = false
  let open = 0

  return {
    full(brand, userId) {
      if ((audiences.get(topicOf(brand, userId))?.streams.size ?? 0) >= options.streamsPerUser) return 'user'
      return open >= options.streams ? 'process' : undefined
    },

    join(stream) {
      if (stopped) return stream.end('stopping')
      const { brand, userId } = stream
      const topic = topicOf(brand, userId)
      let audience = audiences.get(topic)
      if (!audience) {
        audience = { brand, userId, streams: new Set(), deafen: database.onWake(topic, () => refresh(topic)) }
        audiences.set(topic, audience)
      }
      audience.streams.add(stream)
      open++
      stream.nextBeat = now() + beatMs
      stream.freeAt = now()
      timer ??= setInterval(tick, 1000).unref()
      emit('inbox.opened', { brand, userId, streams: audience.streams.size })
      refresh(topic)
    },

    drained(stream) {
      if (!stream.full) return
      stream.full = false
      refresh(topicOf(stream.brand, stream.userId))
    },

    left(stream, why) {
      const { brand, userId } = stream
      const topic = topicOf(brand, userId)
      const audience = audiences.get(topic)
      if (!audience?.streams.delete(stream)) return
      open--
      emit('inbox.closed', { brand, userId, streams: audience.streams.size, why })
      if (audience.streams.size > 0) return
      audience.deafen()
      audiences.delete(topic)
      stale.delete(audience)
      if (audiences.size > 0) return
      clearInterval(timer)
      timer = undefined
    },

    stop() {
      stopped = true
      for (const stream of allStreams()) stream.end('stopping')
    },
  }

  function refresh(topic: string): void {
    const audience = audiences.get(topic)
    if (!audience) return
    stale.add(audience)
    if (!draining) void drain()
  }

  async function drain(): Promise<void> {
    draining = true
    try {
      // One turn later, so that what arrives together is read together.
      await nextTurn()
      while (stale.size > 0) {
        const round = [...stale].slice(0, usersAtOnce)
        for (const audience of round) stale.delete(audience)
        const questions = round.flatMap(({ brand, userId, streams }) => question(brand, userId, streams) ?? [])
        if (questions.length > 0) await deliver(questions, await database.read(news(questions)))
      }
    } catch {
      // The store says itself that it is lost. The next beat of each stream asks again.
    } finally {
      draining = false
    }
  }

  async function deliver(questions: readonly Question[], rows: readonly News[]): Promise<void> {
    const byTopic = Map.groupBy(rows, (row) => topicOf(row.brand, row.user_id))
    let written = 0
    const verdicts = await Promise.all(questions.map((asked) => verdictOn(asked, byTopic)))
    for (const [i, asked] of questions.entries()) {
      const { brand, userId, streams } = asked
      const topic = topicOf(brand, userId)
      if (verdicts[i] === 'refused') for (const stream of streams) stream.end('refused')
      // Where nobody can tell, the streams stay where they are: the next beat asks again.
      if (verdicts[i] !== 'allowed') continue
      const { writes, shown, more } = plan(asked, byTopic.get(topic) ?? [], options)
      for (const [stream, bytes] of writes) {
        if (++written % writesATurn === 0) await nextTurn()
        stream.write(bytes)
      }
      for (const { ref, streams } of shown) emit('inbox.shown', { brand, userId, ref, streams })
      // The network took it all at once, so no drain will come.
      const free = streams.filter(({ full, blocked }) => full && !blocked)
      for (const stream of free) stream.full = false
      if (more || free.length > 0) refresh(topic)
    }
  }

  async function verdictOn(
    { brand, userId }: Question,
    rows: ReadonlyMap<string, readonly News[]>,
  ): Promise<'allowed' | 'refused' | 'unknown'> {
    const nothingToShow = !rows.get(topicOf(brand, userId))?.some(({ seq }) => seq !== null)
    if (!allowed || nothingToShow) return 'allowed'
    try {
      return (await allowed(brand, userId)) ? 'allowed' : 'refused'
    } catch {
      return 'unknown'
    }
  }

  /** Once a second: a sign of life where one is due, and the end of streams whose token ended or whose client does not read. */
  function tick(): void {
    const time = now()
    for (const stream of allStreams()) {
      if (!stream.blocked) stream.freeAt = time
      if (time >= stream.expiresAt) {
        stream.end('expired')
      } else if (time - stream.freeAt >= stallMs) {
        stream.end('slow')
      } else if (time >= stream.nextBeat) {
        stream.nextBeat = time + beatMs
        stream.write(beat)
        // A wake is a hint and may be lost, so each beat looks, too.
        refresh(topicOf(stream.brand, stream.userId))
      }
    }
  }

  function allStreams(): Stream[] {
    return [...audiences.values()].flatMap(({ streams }) => [...streams])
  }
}

const beat = Buffer.from(': still here\n\n')
