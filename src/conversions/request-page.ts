// Row 24, polling: requests a page of statuses from the operator.

import { apiKeyHeader, retryAfterHeader, statusPagePath } from '../contract/endpoints.ts'
import { retryAfterMs } from '../contract/retry-after.ts'
import { type ReadStatusPage, readRestart, readStatusPage } from '../contract/status-page.ts'
import { mostStatusBytes, mostStatusRecords } from '../contract/status-record.ts'
import { shortened } from '../contract/storable.ts'
import { clock } from '../runtime/clock.ts'
import { requestOnce } from '../runtime/http1.ts'

export interface PageRequest {
  /** The operator's {base_url}. */
  readonly url: string
  readonly apiKey: string
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
export async function requestPage({ url, apiKey, after, timeoutMs, signal }: PageRequest): Promise<PageAnswer> {
  const timeout = new AbortController()
  const timer = clock.setTimeout(() => timeout.abort(new Error(`no page for ${timeoutMs} ms`)), timeoutMs)
  try {
    const { statusCode, headers, body } = await requestOnce(addressOf(url, after), {
      headers: { accept: 'application/json', [apiKeyHeader]: apiKey },
      signal: AbortSignal.any([signal, timeout.signal]),
    })
    const text = await readBody(body)
    if (statusCode === 200) return pageOf(text)
    if (statusCode === 410) return restartOf(text)
    throw new PageRefused(
      `status ${statusCode}: ${shortened(text.toString(), 300)}`,
      retryAfterMs(headers[retryAfterHeader], clock.now()),
    )
  } catch (error) {
    if (error instanceof PageRefused) throw error
    const { code, message } = (timeout.signal.reason ?? error) as Error & { readonly code?: string }
    throw new PageRefused(code === undefined ? message : `${code}: ${message}`)
  } finally {
    clock.clearTimeout(timer)
  }
}

function addressOf(url: string, after: string | undefined): string {
  const address = new URL(url)
  address.pathname = address.pathname.replace(/\/+$/, '') + statusPagePath
  if (after !== undefined) address.searchParams.set('after', after)
  address.searchParams.set('limit', String(mostStatusRecords))
  return address.href
}

async function readBody(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > mostPageBytes) throw new PageRefused(`the page is larger than ${mostPageBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
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
