/**
 * At most so many at a time. Whoever waits does so in a queue of its party, in order, no longer than it may; the queues take turns.
 * So a party with thousands waiting delays another one by one round.
 */
export interface FairSemaphore {
  /**
   * true: it is your turn now. A promise: whether it came before the deadline (epoch ms). 'full': too many wait already, and this party
   * has its share of them.
   *
   * @param party whose queue it is, a brand say
   */
  take(deadline: number, party?: string): true | 'full' | Promise<boolean>
  /** Ends a turn that was taken. */
  give(): void
}

interface Waiting {
  readonly deadline: number
  readonly resolve: (mine: boolean) => void
}

interface Queue {
  readonly party: string
  /** Who had their turn leaves a hole: an array that grows for long would keep all that hangs on them. */
  waiting: (Waiting | undefined)[]
  head: number
}

/** How much later than its deadline a waiting one may be told. */
const sweepMs = 250

/**
 * @param mostWaiting in all; a party that has less than its share of them is let in even then
 * @example
 * const turns = createFairSemaphore(100, 20_000)
 * const turn = turns.acquire(Date.now() + 30_000, brand)
 * if (turn === true || (turn !== 'full' && (await turn))) try { … } finally { turns.release() }
 */
export function createFairSemaphore(count: number, mostWaiting: number): FairSemaphore {
  let free = count
  const byParty = new Map<string, Queue>()
  /** Those with somebody waiting, and which of them is next. */
  const queues: Queue[] = []
  let at = 0
  let length = 0
  let timer: NodeJS.Timeout | undefined

  function next(): Waiting['resolve'] | undefined {
    if (queues.length > 0) {
      if (at >= queues.length) at = 0
      const queue = queues[at] as Queue
      const { resolve } = queue.waiting[queue.head] as Waiting
      queue.waiting[queue.head++] = undefined
      length--
      if (queue.head === queue.waiting.length) remove(at)
      else at++
      return resolve
    }
    clearInterval(timer)
    timer = undefined
    return undefined
  }

  function remove(index: number): void {
    const [queue] = queues.splice(index, 1)
    if (queue) byParty.delete(queue.party)
    if (index < at) at--
  }

  function sweep(): void {
    const now = Date.now()
    length = 0
    for (let index = queues.length - 1; index >= 0; index--) {
      const queue = queues[index] as Queue
      queue.waiting = queue.waiting.slice(queue.head).filter((one) => one !== undefined && !toldLate(one, now))
      queue.head = 0
      length += queue.waiting.length
      if (queue.waiting.length === 0) remove(index)
    }
    if (queues.length === 0) next()
  }

  function add(party: string): Queue {
    const queue = { party, waiting: [], head: 0 }
    byParty.set(party, queue)
    queues.push(queue)
    return queue
  }

  return {
    take(deadline, party = '') {
      if (free > 0) {
        free--
        return true
      }
      const mine = byParty.get(party)
      if (length >= mostWaiting) {
        const waits = mine ? mine.waiting.length - mine.head : 0
        if (waits >= mostWaiting / (queues.length + (mine ? 0 : 1))) return 'full'
      }
      timer ??= setInterval(sweep, sweepMs).unref()
      length++
      return new Promise((resolve) => (mine ?? add(party)).waiting.push({ deadline, resolve }))
    },
    give() {
      const resolve = next()
      if (resolve) resolve(true)
      else free++
    },
  }
}

function toldLate(one: Waiting, now: number): boolean {
  if (one.deadline > now) return false
  one.resolve(false)
  return true
}
