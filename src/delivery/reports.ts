// Early results of a batch: settled at intervals, so that one device that hangs delays no other message.

import type { Message, Result } from '../providers/provider.ts'

/** How long a result of a batch waits for more, in milliseconds: each settle is a transaction. */
const settleEveryMs = 50

interface Pending {
  readonly message: Message
  result?: Result
}

export interface Reports {
  /** Takes the result of a message, once. */
  readonly report: (message: Message, result: Result) => void
  /** Settles the rest. */
  end(): Promise<void>
}

/** @param settle takes works that have their results */
export function createReports<Work extends Pending>(
  works: readonly Work[],
  settle: (works: readonly Work[]) => Promise<void>,
): Reports {
  const workOf = works.length === 1 ? undefined : new Map(works.map((work) => [work.message, work]))
  const [first] = works
  // One request is answered when all its messages are settled; several requests wait for their own messages only.
  const afterMs = works.every(({ message }) => message.part?.of === first?.message.part?.of) ? settleEveryMs : 0
  let ready: Work[] = []
  let timer: NodeJS.Timeout | undefined

  function flush(): Promise<void> {
    const some = ready
    ready = []
    clearTimeout(timer)
    timer = undefined
    return some.length === 0 ? Promise.resolve() : settle(some)
  }

  return {
    report(message, result) {
      const work = workOf ? workOf.get(message) : first
      if (!work || work.result) return
      work.result = result
      ready.push(work)
      if (works.length > 1) timer ??= setTimeout(() => void flush(), afterMs)
    },
    end: flush,
  }
}
