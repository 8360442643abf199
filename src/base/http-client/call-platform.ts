// POSTs a device link, an unlink or delivery statuses to the platform, and judges its answer (row 19).

import { readPlatformAnswer, withoutAnswer } from '../../contract/device-answer.ts'
import { retryAfterHeader } from '../../contract/endpoints.ts'
import type { Outcome } from '../../contract/outcome.ts'
import { clock } from '../runtime/clock.ts'
import { messageOf } from '../runtime/message-of.ts'
import type { Caller } from './caller.ts'

export interface PlatformCall {
  /** Is appended to the path of the address. */
  readonly path?: string
  /** JSON. */
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
  /** The row of docs/open-points.md that the outcome names. Default: 19. */
  readonly row?: number
}

export interface PostContext {
  /** Epoch milliseconds. */
  readonly deadline: number
  readonly signal: AbortSignal
}

/** Bytes of an answer that are read. */
const most = 16 * 1024

/** Never rejects. @example await callPlatform(caller, { path: deviceLink.path, body }, context) */
export async function callPlatform(
  caller: Caller,
  { row, headers, ...request }: PlatformCall,
  { deadline, signal }: PostContext,
): Promise<Outcome> {
  const all = { 'content-type': 'application/json', ...headers }
  const exchanged = await caller.call({ ...request, headers: all, most, deadline, signal })
  const now = clock.now()
  if ('lost' in exchanged) return withoutAnswer(messageOf(exchanged.lost), now >= deadline, row)
  const { status, body, headers: answered } = exchanged
  const retryAfter = answered[retryAfterHeader]
  return readPlatformAnswer({
    status,
    body: body.toString(),
    retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined,
    now,
    location: answered.location,
    ...(row !== undefined && { row }),
  })
}
