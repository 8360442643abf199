import { clock } from './clock.ts'

/**
 * A semaphore with one queue for each party (a brand, for example). Free permits go to the queues round-robin, so that a party
 * with thousands of waiters delays another party by one round only.
 */
export interface FairSemaphore {
  /**
   * Acquires a permit. Returns true if one is free; 'full' if too many callers wait and this party has its share of them;
   * otherwise a promise that resolves with true, or with false when the deadline (epoch ms) has passed.
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

/**
 * @param mostWaiting limit for all parties; a party with less than its share of the waiters may exceed it
 * @example
 * const semaphore = createFairSemaphore(100, 20_000)
 * const permit = semaphore.acquire(Date.now() + 30_000, brand)
 * if (permit === true || (permit !== 'full' && (await permit))) try { … } finally { semaphore.release() }
 */
export function createFairSemaphore(count: number, mostWaiting: number): FairSemaphore {
  let free = count
  const byParty = new Map<string, Queue>()
  /** The queues that are not empty, in round-robin order. */
  const queues: Queue[] = []
  let nextQueue = 0
  let waiting = 0
  let timer: NodeJS.Timeout | undefined

  function removeNext(): Waiter['resolve'] | undefined {
    if (queues.length > 0) {
      if (nextQueue >= queues.length) nextQueue = 0
      const queue = queues[nextQueue] as Queue
      const { resolve } = queue.waiters[queue.head] as Waiter
      queue.waiters[queue.head++] = undefined
      waiting--
      if (queue.head === queue.waiters.length) removeQueue(nextQueue)
      else nextQueue++
      return resolve
    }
    clock.clearInterval(timer)
    timer = undefined
    return undefined
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
    if (queues.length === 0) removeNext()
  }

  function addQueue(party: string): Queue {
    const queue = { party, waiters: [], head: 0 }
    byParty.set(party, queue)
    queues.push(queue)
    return queue
  }

  return {
    acquire(deadline, party = '') {
      if (free > 0) {
        free--
        return true
      }
      const queue = byParty.get(party)
      if (waiting >= mostWaiting) {
        const ofParty = queue ? queue.waiters.length - queue.head : 0
        if (ofParty >= mostWaiting / (queues.length + (queue ? 0 : 1))) return 'full'
      }
      timer ??= clock.setInterval(removeExpired, sweepMs).unref()
      waiting++
      return new Promise((resolve) => (queue ?? addQueue(party)).waiters.push({ deadline, resolve }))
    },
    release() {
      const resolve = removeNext()
      if (resolve) resolve(true)
      else free++
    },
  }
}

/** @returns whether the waiter's deadline has passed; if so, the waiter is answered */
function expire(waiter: Waiter, now: number): boolean {
  if (waiter.deadline > now) return false
  waiter.resolve(false)
  return true
}
