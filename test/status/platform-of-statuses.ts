// A platform of another vendor that receives statuses, and checks their signature with the published package.

import { createServer, type IncomingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { readStatusBody, type StatusRecord } from '../../src/contract/status-record.ts'
import { listenLocally } from '../support/listen-locally.ts'

export interface StatusCall {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly records: readonly StatusRecord[]
  readonly status: number
}

export interface ReceivingPlatform {
  readonly url: string
  readonly port: number
  readonly calls: readonly StatusCall[]
  /** The records that were answered 200, in order. */
  accepted(): readonly StatusRecord[]
  close(): Promise<void>
}

/** @param secrets of the platform: a call with a signature by any of them is authentic; none: nothing is checked */
export async function receivingPlatform(
  t: TestContext,
  secrets: readonly string[],
  answer: (records: readonly StatusRecord[], calls: number) => number | Promise<number> = () => 200,
  port = 0,
): Promise<ReceivingPlatform> {
  const calls: StatusCall[] = []
  const server = createServer(async (request, response) => {
    const body = await text(request)
    const read = readStatusBody(body)
    const records = typeof read === 'string' ? [] : (read as readonly StatusRecord[])
    const authentic = secrets.length === 0 || secrets.some((secret) => isSigned(secret, body, request.headers))
    const status = authentic ? await answer(records, calls.length) : 401
    calls.push({
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body,
      records,
      status,
    })
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(status === 200 ? '{"message":"success"}' : '{"error":"refused by the test"}')
  })
  const { port: bound, close } = await listenLocally(t, server, port)
  return {
    url: `http://127.0.0.1:${bound}`,
    port: bound,
    calls,
    accepted: () => calls.filter(({ status }) => status === 200).flatMap(({ records }) => records),
    close,
  }
}

function isSigned(secret: string, body: string, headers: IncomingHttpHeaders): boolean {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>, { jsonParse: false })
    return true
  } catch {
    return false
  }
}
