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
   */
  acquire(deadline: number, party?: string): true | 'full' | Promise<boolean>
  release(): void
}

interface Waiter {
  readonly deadline: number
  readonly resolve: (acquired: boolean) => void
}

interface Queue {
  readonly party: string
  /** Served waiters are replaced with undefined: a long-lived array would keep the objects that they refer to. */
  waiters: (Waiter | undefined)[]
  head: number
}

/** Longest delay between a waiter's deadline and its answer. */
const sweepMs = 250

type Rate = Pick<SendRate, 'waitMs' | 'recordSend'>

/**
 * @param mostWaiting limit for all parties; a party with less than its share of the waiters may exceed it
 * @param rate permits are given no faster than this. Default: as soon as they are free
 * @example
 * const semaphore = createFairSemaphore(100, 20_000)
 * const permit = semaphore.acquire(Date.now() + 30_000, brand)
 * if (permit === true || (permit !== 'full' && (await permit))) try { … } finally { semaphore.release() }
 */
export function createFairSemaphore(count: number, mostWaiting: number, rate?: Rate): FairSemaphore {
  let free = count
  const byParty = new Map<string, Queue>()
  /** The queues that are not empty, in round-robin order. */
  const queues: Queue[] = []
  let nextQueue = 0
  let waiting = 0
  let sweepTimer: NodeJS.Timeout | undefined
  let scheduled = false

  /** Gives the free permits to the waiters, as the rate allows. */
  function grant(): void {
    while (free > 0 && queues.length > 0) {
      const waitMs = rate?.waitMs(clock.now()) ?? 0
      if (waitMs > 0) {
        grantLater(waitMs)
        return
      }
      takePermit()
      removeNext()(true)
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

  function takePermit(): void {
    free--
    rate?.recordSend(clock.now())
  }

  function removeNext(): Waiter['resolve'] {
    if (nextQueue >= queues.length) nextQueue = 0
    const queue = queues[nextQueue] as Queue
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
    if (queue) byParty.delete(queue.party)
    if (index < nextQueue) nextQueue--
  }

  function removeExpired(): void {
    const now = clock.now()
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

  function addQueue(party: string): Queue {
    const queue = { party, waiters: [], head: 0 }
    byParty.set(party, queue)
    queues.push(queue)
    return queue
  }

  return {
    get waiting() {
      return waiting
    },
    acquire(deadline, party = '') {
      const waitMs = rate?.waitMs(clock.now(), waiting) ?? 0
      if (free > 0 && waiting === 0 && waitMs === 0) {
        takePermit()
        return true
      }
      const queue = byParty.get(party)
      if (waiting >= mostWaiting || (waitMs > 0 && clock.now() + waitMs >= deadline)) {
        const ofParty = queue ? queue.waiters.length - queue.head : 0
        if (ofParty >= Math.min(mostWaiting, waiting) / (queues.length + (queue ? 0 : 1))) return 'full'
      }
      sweepTimer ??= clock.setInterval(removeExpired, sweepMs).unref()
      waiting++
      const acquired = new Promise<boolean>((resolve) => (queue ?? addQueue(party)).waiters.push({ deadline, resolve }))
      grant()
      return acquired
    },
    release() {
      free++
      grant()
    },
  }
}

/** @returns whether the waiter's deadline has passed; if so, the waiter is answered */
function expire(waiter: Waiter, now: number): boolean {
  if (waiter.deadline > now) return false
  waiter.resolve(false)
  return true
}
