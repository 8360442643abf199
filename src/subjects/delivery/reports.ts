// Early results of a batch: settled at intervals, so that one device that hangs delays no other message.

import { clock } from '../../base/runtime/clock.ts'
import type { Message, Result } from '../providers/provider.ts'

/** How long a result waits for other results of its batch, in milliseconds: each settle is a transaction. */
const settleEveryMs = 50

interface Pending {
  readonly message: Message
  result?: Result
}

export interface Reports {
  /** Reports the result of a message. A second report of the same message is ignored. */
  readonly report: (message: Message, result: Result) => void
  /** Settles the results that are still waiting. */
  flush(): Promise<void>
}

/** @param settle called with works that have a result */
export function createReports<Work extends Pending>(
  works: readonly Work[],
  settle: (works: readonly Work[]) => Promise<void>,
): Reports {
  const workOf = works.length === 1 ? undefined : new Map(works.map((work) => [work.message, work]))
  const [first] = works
  // One request is answered when all its messages are settled; several requests wait for their own messages only.
  const delayMs = works.every(({ message }) => message.part?.of === first?.message.part?.of) ? settleEveryMs : 0
  let ready: Work[] = []
  let timer: NodeJS.Timeout | undefined

  function flush(): Promise<void> {
    const reported = ready
    ready = []
    clock.clearTimeout(timer)
    timer = undefined
    return reported.length === 0 ? Promise.resolve() : settle(reported)
  }

  return {
    report(message, result) {
      const work = workOf ? workOf.get(message) : first
      if (!work || work.result) return
      work.result = result
      ready.push(work)
      if (works.length > 1) timer ??= clock.setTimeout(() => void flush(), delayMs)
    },
    flush,
  }
}
