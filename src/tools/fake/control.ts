// The control API of a fake, under /fake: it switches behaviours and lists the recorded requests.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { judgeLocalRequest } from '../../base/http/local-request.ts'
import { messageOf } from '../../base/runtime/message-of.ts'
import { readBody } from '../../base/runtime/read-body.ts'
import type { Behaviours, Choice } from './behaviours.ts'

export const controlPath = '/fake'

/** The address for the control API, which only programs on this machine may use. @example 'http://127.0.0.1:8080' for 'http://0.0.0.0:8080' */
export const localUrl = (url: string): string => `http://127.0.0.1:${new URL(url).port}`

const mostBodyBytes = 1024 * 1024

export interface Controlled<Behaviour extends Choice<string>> {
  readonly behaviours: Behaviours<Behaviour>
  /** @throws an Error that names the wrong member */
  readonly readBehaviour: (body: Body) => Behaviour
  /** The path and the member under which the requests are listed. */
  readonly listName: string
  readonly requests: readonly { readonly n: number }[]
  /** The action of a POST to a path below /fake. It returns the answer. */
  readonly actions?: Readonly<Record<string, (body: unknown, text: string) => Promise<object>>>
}

type Body = Readonly<Record<string, unknown>>

/**
 * Only programs on this machine may use it; a web page that is open in a browser on this machine may not.
 *
 * | Request | Effect |
 * |---|---|
 * | `POST /fake/behaviours` `{every: 3, answer: {status: 500}}` | adds a behaviour: `{id, behaviour}` |
 * | `GET /fake/behaviours` | lists the behaviours |
 * | `DELETE /fake/behaviours`, `DELETE /fake/behaviours/ID` | removes all, or one |
 * | `GET /fake/arrivals?after=N`, or another name of the list | lists the requests after the one with this number |
 */
export async function serveControl<Behaviour extends Choice<string>>(
  request: IncomingMessage,
  response: ServerResponse,
  { behaviours, readBehaviour, listName, requests, actions = {} }: Controlled<Behaviour>,
): Promise<void> {
  const send = (status: number, body: object): void => {
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(`${JSON.stringify(body)}\n`)
  }
  const refusal = judgeLocalRequest(request)
  if (refusal) return send(refusal.status, { error: refusal.error })
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://fake')
  const [, id] = /^\/fake\/behaviours(?:\/(\d+))?$/.exec(pathname) ?? []
  const isBehaviours = pathname === `${controlPath}/behaviours`
  const action = request.method === 'POST' ? actions[pathname.slice(controlPath.length)] : undefined
  try {
    if (request.method === 'GET' && pathname === `${controlPath}/${listName}`)
      return send(200, requestsAfter(requests, listName, searchParams.get('after') ?? '0'))
    if (request.method === 'GET' && isBehaviours)
      return send(200, { behaviours: [...behaviours.active].map(([id, behaviour]) => ({ id, behaviour })) })
    if (request.method === 'POST' && isBehaviours) {
      const behaviour = readBehaviour(toObject(JSON.parse(await readText(request))))
      return send(200, { id: behaviours.add(behaviour), behaviour })
    }
    if (request.method === 'DELETE' && (isBehaviours || id !== undefined)) return send(...remove(behaviours, id))
    if (action) {
      const text = await readText(request)
      return send(200, await action(JSON.parse(text), text))
    }
    const posts = ['/behaviours', ...Object.keys(actions)].map((path) => `POST ${controlPath}${path}`)
    send(404, { error: `use ${posts.join(', ')}, GET or DELETE /fake/behaviours, or GET /fake/${listName}` })
  } catch (error) {
    send(400, { error: messageOf(error) })
  }
}

function requestsAfter(requests: readonly { readonly n: number }[], name: string, text: string): object {
  const after = Number(text)
  if (!Number.isSafeInteger(after) || after < 0) throw new Error('after must be the number of a request')
  const found = requests.filter(({ n }) => n > after)
  return { [name]: found, next: found.at(-1)?.n ?? after }
}

function remove(
  behaviours: Pick<Behaviours<Choice<string>>, 'active' | 'remove'>,
  id: string | undefined,
): [status: number, body: object] {
  const ids = id === undefined ? [...behaviours.active.keys()] : [Number(id)]
  const removed = ids.filter((each) => behaviours.remove(each))
  if (id !== undefined && removed.length === 0) return [404, { error: `there is no behaviour ${id}` }]
  return [200, { removed }]
}

async function readText(request: IncomingMessage): Promise<string> {
  const body = await readBody(request, mostBodyBytes)
  if (body === undefined) throw new Error(`the body is larger than ${mostBodyBytes} bytes`)
  return body.toString()
}

/** @throws an Error if the value is no JSON object */
export function toObject(value: unknown): Body {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Body
  throw new Error('the body must be a JSON object')
}
