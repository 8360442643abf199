// Row 24, polling: requests a page of statuses from the operator.

import type { Caller } from '../../base/http-client/caller.ts'
import { clock } from '../../base/runtime/clock.ts'
import { describeStatus } from '../../contract/describe-status.ts'
import { retryAfterHeader, statusPagePath } from '../../contract/endpoints.ts'
import { retryAfterMs } from '../../contract/retry-after.ts'
import { type ReadStatusPage, readRestart, readStatusPage } from '../../contract/status-page.ts'
import { mostStatusBytes, mostStatusRecords } from '../../contract/status-record.ts'
import { shortened } from '../../contract/storable.ts'

export interface PageRequest {
  /** The caller of the operator's {base_url}. */
  readonly operator: Caller
  /** The cursor. Undefined: the first page. */
  readonly after: string | undefined
  readonly timeoutMs: number
  /** Aborts when the platform stops. */
  readonly signal: AbortSignal
}

/** The page; or the cursor to go on with, because the operator does not know the given one. */
export type PageAnswer = ReadStatusPage | { readonly restart: string }

/** The operator gave no page. `message` says why. */
export class PageRefused extends Error {
  readonly retryAfterMs: number | undefined
  constructor(message: string, retryAfterMs?: number) {
    super(message)
    this.retryAfterMs = retryAfterMs
  }
}

/** A page has at most 1,000 records; their texts may be longer than those of a webhook. */
const mostPageBytes = 4 * mostStatusBytes

/** @throws PageRefused */
export async function requestPage({ operator, after, timeoutMs, signal }: PageRequest): Promise<PageAnswer> {
  const exchanged = await operator.call({
    method: 'GET',
    path: statusPagePath,
    query: { ...(after !== undefined && { after }), limit: String(mostStatusRecords) },
    headers: { accept: 'application/json' },
    most: mostPageBytes,
    deadline: clock.now() + timeoutMs,
    signal,
  })
  if ('lost' in exchanged) {
    const { code, message } = exchanged.lost
    throw new PageRefused(code === undefined ? message : `${code}: ${message}`)
  }
  const { status, headers, body, cut } = exchanged
  if (cut) throw new PageRefused(`the page is larger than ${mostPageBytes} bytes`)
  if (status === 200) return pageOf(body)
  if (status === 410) return restartOf(body)
  throw new PageRefused(
    `status ${describeStatus(status, headers.location)}: ${shortened(body.toString(), 300)}`,
    retryAfterMs(headers[retryAfterHeader], clock.now()),
  )
}

function pageOf(text: Buffer): ReadStatusPage {
  const page = readStatusPage(text)
  if (typeof page === 'string') throw new PageRefused(page)
  return page
}

function restartOf(text: Buffer): { readonly restart: string } {
  const restart = readRestart(text)
  if (restart !== undefined) return { restart }
  throw new PageRefused('status 410, and the answer has no cursor `restart` to go on with')
}
