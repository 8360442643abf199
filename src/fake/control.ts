// The control API of a fake operator, under /fake: it switches behaviours and lists the received requests.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { judgeLocalRequest } from '../http/local-request.ts'
import { messageOf } from '../runtime/message-of.ts'
import type { Arrival } from './arrival.ts'
import { type Behaviours, readBehaviour } from './behaviour.ts'

export const controlPath = '/fake'

const mostBodyBytes = 64 * 1024

interface Controlled {
  readonly behaviours: Behaviours
  readonly arrivals: readonly Arrival[]
}

/**
 * Only programs on this machine may use it; a web page that is open in a browser on this machine may not.
 *
 * | Request | Effect |
 * |---|---|
 * | `POST /fake/behaviours` `{every: 3, answer: {status: 500}}` as in behaviour.ts | adds a behaviour: `{id, behaviour}` |
 * | `GET /fake/behaviours` | lists the behaviours |
 * | `DELETE /fake/behaviours`, `DELETE /fake/behaviours/ID` | removes all, or one |
 * | `GET /fake/arrivals?after=N` | lists the received requests after the one with this number |
 */
export async function serveControl(
  request: IncomingMessage,
  response: ServerResponse,
  controlled: Controlled,
): Promise<void> {
  const send = (status: number, body: object): void => {
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(`${JSON.stringify(body)}\n`)
  }
  const refusal = judgeLocalRequest(request, request.socket.localPort as number)
  if (refusal) return send(refusal.status, { error: refusal.error })
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://fake')
  const [, id] = /^\/fake\/behaviours(?:\/(\d+))?$/.exec(pathname) ?? []
  const isBehaviours = pathname === `${controlPath}/behaviours`
  try {
    if (request.method === 'GET' && pathname === `${controlPath}/arrivals`)
      return send(200, arrivalsAfter(controlled.arrivals, searchParams.get('after') ?? '0'))
    if (request.method === 'GET' && isBehaviours) return send(200, { behaviours: controlled.behaviours.active })
    if (request.method === 'POST' && isBehaviours)
      return send(200, controlled.behaviours.add(readBehaviour(await readJson(request))))
    if (request.method === 'DELETE' && (isBehaviours || id !== undefined))
      return send(...remove(controlled.behaviours, id))
    send(404, { error: 'use POST, GET or DELETE /fake/behaviours, or GET /fake/arrivals' })
  } catch (error) {
    send(400, { error: messageOf(error) })
  }
}

function arrivalsAfter(arrivals: readonly Arrival[], text: string): object {
  const after = Number(text)
  if (!Number.isSafeInteger(after) || after < 0) throw new Error('after must be the number of a request')
  const found = arrivals.filter(({ n }) => n > after)
  return { arrivals: found, next: found.at(-1)?.n ?? after }
}

function remove(behaviours: Behaviours, id: string | undefined): [status: number, body: object] {
  const ids = id === undefined ? behaviours.active.map((each) => each.id) : [Number(id)]
  const removed = ids.filter((each) => behaviours.remove(each))
  if (id !== undefined && removed.length === 0) return [404, { error: `there is no behaviour ${id}` }]
  return [200, { removed }]
}

async function readJson(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length
    if (bytes > mostBodyBytes) throw new Error(`the body is larger than ${mostBodyBytes} bytes`)
    chunks.push(chunk as Buffer)
  }
  const read: unknown = JSON.parse(Buffer.concat(chunks).toString())
  if (typeof read !== 'object' || read === null || Array.isArray(read))
    throw new Error('the body must be a JSON object')
  return read as Readonly<Record<string, unknown>>
}
