// A stand-in of an operator whose statuses are polled.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'
import { listenLocally } from '../support/listen-locally.ts'

export interface PolledStandIn {
  readonly url: string
  /** All statuses, in order. A cursor is the epoch and the number of statuses before it. */
  readonly records: object[]
  /** Begins a cursor. A cursor of another epoch is answered 410. */
  epoch: string
  /** The most records of a page. */
  most: number
  /** Answers the next requests instead of the operator. */
  readonly faults: ((response: ServerResponse) => void)[]
  /** The cursor of each request; null: none. */
  readonly asked: (string | null)[]
  readonly keys: (string | undefined)[]
}

export async function startPolledOperator(t: TestContext): Promise<PolledStandIn> {
  const server = createServer((request, response) => answer(request, response))
  const { url } = await listenLocally(t, server)
  const standIn: PolledStandIn = {
    url: `${url}/base`,
    records: [],
    epoch: 'a',
    most: 1_000,
    faults: [],
    asked: [],
    keys: [],
  }

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(request.url ?? '', standIn.url)
    const after = searchParams.get('after')
    standIn.asked.push(after)
    standIn.keys.push(request.headers['x-api-key'] as string | undefined)
    const fault = standIn.faults.shift()
    if (fault) {
      fault(response)
      return
    }
    const [epoch, from = '0'] = after?.split('.') ?? [standIn.epoch]
    const isKnown = epoch === standIn.epoch
    response.writeHead(pathname !== '/base/messages/status' ? 404 : isKnown ? 200 : 410)
    if (!isKnown) return void response.end(JSON.stringify({ error: 'unknown cursor', restart: `${standIn.epoch}.0` }))
    const records = standIn.records.slice(Number(from), Number(from) + standIn.most)
    response.end(JSON.stringify({ records, next: `${standIn.epoch}.${Number(from) + records.length}` }))
  }
  return standIn
}
