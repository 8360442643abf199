import { Failed, NotJudged } from '../verdict.ts'
import { givenIn, type Trace } from './lane.ts'
import type { Given, PlatformRequest, Reply } from './request.ts'

/** Why a record must come again after a request with it; undefined: it need not. */
type Cause = (request: PlatformRequest, record: Trace['records'][number]) => string | undefined

/** @throws Failed if a record did not come again after a request with this cause */
export function expectRetried(trace: Trace, causeOf: Cause, records = trace.records): void {
  let judged = 0
  for (const record of records) {
    const requests = trace.of(record)
    for (const [place, request] of requests.entries()) {
      const cause = causeOf(request, record)
      if (cause === undefined) continue
      judged++
      if (place === requests.length - 1)
        throw new Failed(`${request.label}: ${cause}, and message ${record.idJson} did not come again`)
    }
  }
  if (judged === 0) throw new NotJudged('the platform stopped before this answer')
}

export const answered =
  (isSuch: (code: number, body: string) => boolean): Cause =>
  ({ reply: { status, body = '' } }) =>
    status !== undefined && isSuch(status, body) ? `answered ${status}` : undefined

export const cutBy =
  (cut: Reply['cut'], cause: string): Cause =>
  ({ reply }) =>
    reply.cut === cut ? cause : undefined

export const wasGiven =
  (outcome: Given): Cause =>
  (request, record) =>
    givenIn(request, record) === outcome ? `the message was ${outcome}` : undefined
