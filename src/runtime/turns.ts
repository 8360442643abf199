/** At most so many at a time, and those who wait do so in order, no longer than they may, and not too many of them. */
export interface Turns {
  /** true: it is your turn now. A promise: whether it came before the deadline (epoch ms). 'full': too many wait already. */
  take(deadline: number): true | 'full' | Promise<boolean>
  /** Ends a turn that was taken. */
  give(): void
}

interface Waiting {
  readonly deadline: number
  /** Undefined: told already that it is too late. */
  resolve: ((mine: boolean) => void) | undefined
}

/** How much later than its deadline a waiting one may be told. */
const sweepMs = 250

/**
 * @example
 * const turns = createTurns(100, 20_000)
 * const turn = turns.take(Date.now() + 30_000)
 * if (turn === true || (turn !== 'full' && (await turn))) try { … } finally { turns.give() }
 */
export function createTurns(count: number, mostWaiting: number): Turns {
  let free = count
  /** Who had their turn leaves a hole: an array that grows for long would keep all that hangs on them. */
  let waiting: (Waiting | undefined)[] = []
  let head = 0
  let timer: NodeJS.Timeout | undefined

  function next(): Waiting['resolve'] {
    while (head < waiting.length) {
      const resolve = waiting[head]?.resolve
      waiting[head++] = undefined
      if (resolve) return resolve
    }
    waiting = []
    head = 0
    clearInterval(timer)
    timer = undefined
    return undefined
  }

  function sweep(): void {
    const now = Date.now()
    for (let i = head; i < waiting.length; i++) {
      const one = waiting[i] as Waiting
      if (one.deadline > now) continue
      one.resolve?.(false)
      one.resolve = undefined
    }
    waiting = waiting.slice(head).filter((one) => one?.resolve)
    head = 0
    if (waiting.length === 0) next()
  }

  return {
    take(deadline) {
      if (free > 0) {
        free--
        return true
      }
      if (waiting.length - head >= mostWaiting) return 'full'
      timer ??= setInterval(sweep, sweepMs).unref()
      return new Promise((resolve) => waiting.push({ deadline, resolve }))
    },
    give() {
      const resolve = next()
      if (resolve) resolve(true)
      else free++
    },
  }
}
