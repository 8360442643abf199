import type { Message } from '../messages.ts'
import { Failed, NotJudged } from '../verdict.ts'
import type { Trace } from './lane.ts'

/** Records that were answered with a status. */
export interface Answered {
  readonly trace: Trace
  readonly records: readonly Message[]
}

/** @throws Failed if a message was not sent again after a request with this status */
export function expectRetried({ trace, records }: Answered, of: (code: number, body: string) => boolean): void {
  let judged = 0
  for (const record of records) {
    const requests = trace.of(record)
    for (const [place, { label, reply }] of requests.entries()) {
      if (reply.status === undefined || !of(reply.status, reply.body ?? '')) continue
      judged++
      if (place === requests.length - 1)
        throw new Failed(`${label}: answered ${reply.status}, and message ${record.idJson} did not come again`)
    }
  }
  if (judged === 0) throw new NotJudged('the platform stopped before this answer')
}
