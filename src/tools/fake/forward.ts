// Passes requests of a fake on to the real side behind it.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { requestOnce } from '../../base/http-client/dispatcher.ts'
import type { RealAnswer } from './arrival.ts'

const send = (to: string, request: IncomingMessage, body: Buffer) =>
  requestOnce(to + request.url, {
    method: request.method as 'GET',
    headers: forwardedHeaders(request),
    ...(body.length > 0 && { body }),
  })

export async function exchange(to: string, request: IncomingMessage, body: Buffer): Promise<RealAnswer> {
  const { statusCode, headers, body: answer } = await send(to, request, body)
  const retryAfter = headers['retry-after']
  return {
    status: statusCode,
    text: await answer.text(),
    headers: typeof retryAfter === 'string' ? { 'retry-after': retryAfter } : {},
  }
}

/** Streams the real answer. @param cut after the first bytes of the answer. @returns its status, unless it was cut */
export async function forward(
  to: string,
  request: IncomingMessage,
  body: Buffer,
  response: ServerResponse,
  cut = false,
): Promise<number | undefined> {
  const { statusCode, headers, body: answer } = await send(to, request, body)
  response.writeHead(statusCode, {
    'content-type': String(headers['content-type'] ?? 'application/json'),
    ...(headers.allow !== undefined && { allow: String(headers.allow) }),
  })
  for await (const chunk of answer) {
    if (!response.write(chunk)) await new Promise((resolve) => response.once('drain', resolve).once('close', resolve))
    if (cut || response.destroyed) break
  }
  if (cut) {
    response.destroy()
    return undefined
  }
  response.end()
  return statusCode
}

/** All headers without the headers of the connection. */
export function forwardedHeaders({ headers }: IncomingMessage): Record<string, string> {
  const own = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'expect', 'keep-alive'])
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      own.has(name) || value === undefined ? [] : [[name, `${value}`]],
    ),
  )
}

export function reply(
  response: ServerResponse,
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers }).end(body)
}

const mostAnswerCharacters = 2_000

export const shorten = (text: string): string =>
  text.length > mostAnswerCharacters ? `${text.slice(0, mostAnswerCharacters)}…` : text
