import { clock } from './clock.ts'
import type { SendRate } from './send-rate.ts'

/**
 * A semaphore with one queue for each party (a brand, for example). Free permits go to the queues round-robin, so that a party
 * with thousands of waiters delays another party by one round only.
 */
export interface FairSemaphore {
  /** How many callers wait. */
  readonly waiting: number
  /**
   * Acquires a permit. Returns true if one is free; 'full' if too many callers wait, or if the rate leaves no time before the
   * deadline, and this party has its share of the waiters; otherwise a promise that resolves with true, or with false when the deadline (epoch ms) has passed.
   *
   * @param group the callers that share `mostOfGroup` permits
   */
  acquire(deadline: number, party?: string, group?: string): true | 'full' | Promise<boolean>
  /** @param group that of acquire() */
  release(group?: string): void
}

interface Waiter {
  /** The deadline by the monotonic clock. */
  readonly endsAt: number
  readonly resolve: (acquired: boolean) => void
}

/** The waiters of one party in one group. */
interface Queue {
  readonly party: string
  readonly group: string
  /** Served waiters are replaced with undefined: a long-lived array would keep the objects that they refer to. */
  waiters: (Waiter | undefined)[]
  head: number
}

/** Longest delay between a waiter's deadline and its answer. */
const sweepMs = 250

export interface FairSemaphoreOptions {
  /** Permits are given no faster than this. Default: as soon as they are free. */
  readonly rate?: Pick<SendRate, 'waitMs' | 'recordSend'>
  /** The most permits of one group at a time. Default: no limit. */
  readonly mostOfGroup?: number | undefined
}

/**
 * @param mostWaiting limit for all parties; a party with less than its share of the waiters may exceed it
 * @example
 * const semaphore = createFairSemaphore(100, 20_000)
 * const permit = semaphore.acquire(Date.now() + 30_000, brand)
 * if (permit === true || (permit !== 'full' && (await permit))) try { … } finally { semaphore.release() }
 */
export function createFairSemaphore(
  count: number,
  mostWaiting: number,
  { rate, mostOfGroup = Number.POSITIVE_INFINITY }: FairSemaphoreOptions = {},
): FairSemaphore {
  let free = count
  /** The permits in use, by group. */
  const used = new Map<string, number>()
  /** By group and party. */
  const byKey = new Map<string, Queue>()
  /** The queues that are not empty, in round-robin order. */
  const queues: Queue[] = []
  let nextQueue = 0
  let waiting = 0
  let sweepTimer: NodeJS.Timeout | undefined
  let scheduled = false

  /** Gives the free permits to the waiters, as the rate allows. */
  function grant(): void {
    while (free > 0) {
      const queue = findNext()
      if (!queue) break
      const waitMs = rate?.waitMs(clock.monotonic()) ?? 0
      if (waitMs > 0) {
        grantLater(waitMs)
        return
      }
      takePermit(queue.group)
      removeFirst(queue)(true)
    }
    if (queues.length === 0) stopSweep()
  }

  function grantLater(waitMs: number): void {
    if (scheduled) return
    scheduled = true
    clock.setTimeout(() => {
      scheduled = false
      grant()
    }, waitMs)
  }

  const hasRoom = (group: string): boolean => (used.get(group) ?? 0) < mostOfGroup

  function takePermit(group: string): void {
    free--
    used.set(group, (used.get(group) ?? 0) + 1)
    rate?.recordSend(clock.monotonic())
  }

  /** The next queue, in turn, whose group has a permit left. `nextQueue` is its index. */
  function findNext(): Queue | undefined {
    for (let skipped = 0; skipped < queues.length; skipped++) {
      if (nextQueue >= queues.length) nextQueue = 0
      const queue = queues[nextQueue] as Queue
      if (hasRoom(queue.group)) return queue
      nextQueue++
    }
    return undefined
  }

  function removeFirst(queue: Queue): Waiter['resolve'] {
    const { resolve } = queue.waiters[queue.head] as Waiter
    queue.waiters[queue.head++] = undefined
    waiting--
    if (queue.head === queue.waiters.length) removeQueue(nextQueue)
    else nextQueue++
    return resolve
  }

  function stopSweep(): void {
    clock.clearInterval(sweepTimer)
    sweepTimer = undefined
  }

  function removeQueue(index: number): void {
    const [queue] = queues.splice(index, 1)
    if (queue) byKey.delete(keyOf(queue.group, queue.party))
    if (index < nextQueue) nextQueue--
  }

  function removeExpired(): void {
    const now = clock.monotonic()
    waiting = 0
    for (let index = queues.length - 1; index >= 0; index--) {
      const queue = queues[index] as Queue
      queue.waiters = queue.waiters.slice(queue.head).filter((waiter) => waiter !== undefined && !expire(waiter, now))
      queue.head = 0
      waiting += queue.waiters.length
      if (queue.waiters.length === 0) removeQueue(index)
    }
    if (queues.length === 0) stopSweep()
  }

  function addQueue(party: string, group: string): Queue {
    const queue = { party, group, waiters: [], head: 0 }
    byKey.set(keyOf(group, party), queue)
    queues.push(queue)
    return queue
  }

  return {
    get waiting() {
      return waiting
    },
    acquire(deadline, party = '', group = '') {
      const waitMs = rate?.waitMs(clock.monotonic(), waiting) ?? 0
      if (free > 0 && waiting === 0 && waitMs === 0 && hasRoom(group)) {
        takePermit(group)
        return true
      }
      const endsAt = clock.monotonic() + deadline - clock.now()
      const queue = byKey.get(keyOf(group, party))
      if (waiting >= mostWaiting || (waitMs > 0 && clock.monotonic() + waitMs >= endsAt)) {
        const ofParty = queue ? queue.waiters.length - queue.head : 0
        if (ofParty >= Math.min(mostWaiting, waiting) / (queues.length + (queue ? 0 : 1))) return 'full'
      }
      sweepTimer ??= clock.setInterval(removeExpired, sweepMs).unref()
      waiting++
      const acquired = new Promise<boolean>((resolve) =>
        (queue ?? addQueue(party, group)).waiters.push({ endsAt, resolve }),
      )
      grant()
      return acquired
    },
    release(group = '') {
      free++
      const left = (used.get(group) ?? 0) - 1
      if (left > 0) used.set(group, left)
      else used.delete(group)
      grant()
    },
  }
}

const keyOf = (group: string, party: string): string => `${group} ${party}`

/** @returns whether the waiter's deadline has passed; if so, the waiter is answered */
function expire(waiter: Waiter, now: number): boolean {
  if (waiter.endsAt > now) return false
  waiter.resolve(false)
  return true
}
