// The queue of copies for Bellwire, bounded in number and bytes. A copy that finds no room is left out: nothing waits for it.

import { requestOnce } from '../../base/http-client/dispatcher.ts'
import { clock } from '../../base/runtime/clock.ts'
import { messageOf } from '../../base/runtime/message-of.ts'
import { reconciliation, sendEndpoints } from '../../contract/endpoints.ts'
import type { Answer } from '../checker/exchange.ts'
import type { Comparison, Copy } from './compare.ts'
import { decodeBody } from './decode-body.ts'
import type { Forwarded } from './proxy.ts'
import type { Tally } from './tally.ts'

export interface Copies {
  /** Never throws, and never waits. */
  add(forwarded: Forwarded): void
  /** Resolves when all copies are compared. */
  idle(): Promise<void>
}

export const copyLimits = { copies: 10_000, bytes: 256 * 1024 * 1024, atOnce: 4, answerMs: 60_000 }

const endpoints = new Map<string, Copy['endpoint']>([
  ...sendEndpoints.map((endpoint) => [endpoint.path, endpoint] as const),
  [reconciliation.path, 'reconciliation'],
])

/** @param url of the operator that answers the copies */
export function createCopies(
  url: string,
  { compare }: Pick<Comparison, 'compare'>,
  tally: Tally,
  limits = copyLimits,
): Copies {
  const waiting: { readonly forwarded: Forwarded; readonly endpoint: Copy['endpoint'] }[] = []
  let bytes = 0
  let running = 0
  let onIdle = Promise.withResolvers<void>()

  function runNext(): void {
    if (running === 0 && waiting.length === 0) onIdle.resolve()
    if (running >= limits.atOnce) return
    const next = waiting.shift()
    if (next === undefined) return
    running++
    void answerCopy(next.forwarded, next.endpoint).finally(() => {
      running--
      bytes -= sizeOf(next.forwarded)
      runNext()
    })
  }

  async function answerCopy(forwarded: Forwarded, endpoint: Copy['endpoint']): Promise<void> {
    try {
      const { at, path, headers, request, answer } = forwarded
      const bellwire = await send(`${url}${path}`, headers, request, limits.answerMs)
      const operator = { ...answer, body: decodeBody(answer.body, answer.headers['content-encoding']), complete: true }
      compare({ at, endpoint, request, operator, bellwire })
    } catch (error) {
      tally.leaveOut('the copy was not answered', messageOf(error))
    }
  }

  return {
    add(forwarded) {
      const { path, method } = forwarded
      const endpoint = method === 'POST' ? endpoints.get(path) : undefined
      const isFull = waiting.length >= limits.copies || bytes + sizeOf(forwarded) > limits.bytes
      if (endpoint === undefined) tally.leaveOut('not an endpoint of the interface', `${method} ${path}`)
      else if (isFull) tally.leaveOut('too many copies waited', path)
      if (endpoint === undefined || isFull) return
      if (running === 0 && waiting.length === 0) onIdle = Promise.withResolvers()
      bytes += sizeOf(forwarded)
      waiting.push({ forwarded, endpoint })
      runNext()
    },
    async idle() {
      if (running > 0 || waiting.length > 0) await onIdle.promise
    },
  }
}

const sizeOf = ({ request, answer }: Forwarded): number => request.length + answer.body.length

async function send(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: Buffer,
  withinMs: number,
): Promise<Answer> {
  const response = await requestOnce(url, {
    method: 'POST',
    headers,
    body,
    signal: clock.timeout(withinMs),
  })
  const answered = Object.entries(response.headers).map(([name, value]) => [name, String(value)])
  return {
    status: response.statusCode,
    headers: Object.fromEntries(answered),
    body: await response.body.text(),
    complete: true,
  }
}
