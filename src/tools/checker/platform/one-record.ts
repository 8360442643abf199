import type { Scenario } from '../check.ts'
import type { Need } from '../facts.ts'
import type { Message } from '../messages.ts'
import type { Target } from '../target.ts'
import type { Lane, Trace } from './lane.ts'
import type { Open } from './replies.ts'
import type { Reply } from './request.ts'

/**
 * A scenario with one record.
 *
 * @param replies called for each run; it returns the reply to each request
 * @example oneRecord((target) => (open) => (isFirst(open) ? hang : successful(target, open)), ['timeout of the platform'])
 */
export function oneRecord(
  replies: (target: Target) => (open: Open) => Reply,
  needs: readonly Need[] = [],
): Scenario<{ readonly trace: Trace; readonly record: Message }, Lane> {
  return {
    scope: 'send',
    needs,
    messages: 3,
    async run({ target, make, play }) {
      const record = make.message()
      const trace = await play({ records: [record], reply: replies(target) })
      // For some platforms an outage is over only when a batch succeeds: until then, their pauses go on growing.
      if (trace.open.size === 0) await play({ records: [make.message(), make.message()] })
      return { trace, record }
    },
  }
}

/** Whether the record arrives for the first time. */
export const isFirst = ({ messages }: Open): boolean => messages[0]?.attempt === 1
