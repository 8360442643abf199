// Whether a store can store anything. A store that answers reads but refuses writes (full disk, read-only server) is away.

import { clock } from '../runtime/clock.ts'
import { emit } from '../runtime/events.ts'
import { messageOf } from '../runtime/message-of.ts'
import { answerWithin } from './answer-within.ts'
import { RowsUnavailable, StoreUnavailable } from './store-unavailable.ts'

export interface WriteHealthOptions {
  /** The place of the store, for the log: a path, or host:port/database. */
  readonly store: string
  /** Writes to the store. With `large`, as much as a usual transaction. */
  readonly probe: (large: boolean) => Promise<unknown>
  /** Called at the end of an outage. */
  readonly onBack: () => void
}

export interface WriteHealth {
  /** Why the store can store nothing. Undefined: it can. */
  readonly outage: string | undefined
  /** Wraps the writes of the store. After one that fails because of the store, a probe finds out whether others fail too. */
  watch<Arguments extends readonly unknown[], Result>(
    write: (...given: Arguments) => Promise<Result>,
  ): (...given: Arguments) => Promise<Result>
  /** The store is lost. Called again: the present cause. */
  lose(error: unknown): void
  /** @throws StoreUnavailable if the store can store nothing. Tries a write, unless one succeeded in the last second */
  check(): Promise<void>
  /** Tries a large write now. */
  probe(): Promise<void>
  close(): void
}

/** During an outage, a probe is made at this interval. */
const probeEveryMs = 500
/** An idle store is probed at this interval. */
const idleMs = 10_000
const remindEveryMs = 60_000
/** /readyz and the metrics follow a change within this time. */
const freshMs = 1_000
/** A write without an answer: /readyz and the metrics then say that the store is away. */
const checkWithinMs = 2_000

export function createWriteHealth({ store, probe, onBack }: WriteHealthOptions): WriteHealth {
  let outage: { error: string; readonly since: number; remindedAt: number } | undefined
  let writtenAt = Number.NEGATIVE_INFINITY
  /** The next probe is large. */
  let suspected = true
  let probing: Promise<void> | undefined
  let closed = false
  let timer = schedule()

  function schedule(): NodeJS.Timeout {
    const next = clock.setTimeout(turn, outage ? probeEveryMs : idleMs)
    next.unref()
    return next
  }

  async function turn(): Promise<void> {
    if (outage || clock.monotonic() - writtenAt >= idleMs) await tryWrite().catch(() => {})
    if (closed) return
    remind()
    clock.clearTimeout(timer)
    timer = schedule()
  }

  function remind(): void {
    const now = clock.monotonic()
    if (!outage || now - outage.remindedAt < remindEveryMs) return
    outage.remindedAt = now
    emit('store.away', { store, error: outage.error, forMs: Math.round(now - outage.since) })
  }

  /** Joins the probe in progress. */
  function tryWrite(): Promise<void> {
    probing ??= probeWhileSuspected().finally(() => {
      probing = undefined
    })
    return probing
  }

  async function probeWhileSuspected(): Promise<void> {
    try {
      do {
        const large = suspected || outage !== undefined
        suspected = false
        await probe(large)
      } while (suspected)
    } catch (error) {
      lose(error)
      throw error
    }
    writtenAt = clock.monotonic()
    if (outage) endOutage(outage.since)
  }

  function lose(error: unknown): void {
    if (closed) return
    if (outage) {
      outage.error = messageOf(error)
      return
    }
    const now = clock.monotonic()
    outage = { error: messageOf(error), since: now, remindedAt: now }
    emit('store.lost', { store, error: outage.error })
    clock.clearTimeout(timer)
    timer = schedule()
  }

  function endOutage(since: number): void {
    outage = undefined
    emit('store.back', { store, downMs: Math.round(clock.monotonic() - since) })
    onBack()
  }

  return {
    get outage() {
      return outage?.error
    },
    watch:
      (write) =>
      async (...given) => {
        try {
          const result = await write(...given)
          writtenAt = clock.monotonic()
          return result
        } catch (error) {
          if (error instanceof StoreUnavailable && !(error instanceof RowsUnavailable) && !closed && !outage) {
            suspected = true
            void tryWrite().catch(() => {})
          }
          throw error
        }
      },
    lose,
    async check() {
      if (outage) throw new StoreUnavailable(outage.error)
      if (clock.monotonic() - writtenAt >= freshMs) await answerWithin(checkWithinMs, tryWrite())
    },
    async probe() {
      suspected = true
      await tryWrite()
    },
    close() {
      closed = true
      clock.clearTimeout(timer)
    },
  }
}
