// The console asks only the routes of /admin, in this process: each call is authenticated, validated and recorded as one over HTTP.

import type { FastifyInstance } from 'fastify'
import type { AccessKey } from '../../base/http/access.ts'
import { HttpError } from '../../base/http/http-error.ts'
import { clock } from '../../base/runtime/clock.ts'
import { apiKeyHeaders } from '../../contract/endpoints.ts'
import {
  type AnswerOf,
  type AnyRequest,
  type Requested,
  type RouteName,
  type SideName,
  writeRequest,
} from '../admin/calls.ts'

/** Calls a route of /admin. Throws its error as HttpError. */
export type CallRoute = <Name extends RouteName<SideName>>(
  name: Name,
  ...request: Requested<SideName, Name>
) => Promise<AnswerOf<SideName, Name>>

/** The person on whose behalf a route is called. */
export interface Person extends Pick<AccessKey, 'name' | 'scopes' | 'brands'> {
  readonly key: string
  /** The address of the person's browser. */
  readonly address: string
}

/** Viewers who may see the same share an answer within this time, unless the look leaves an entry in the audit trail. */
const sharedMs = 900

/**
 * @param app serves /admin
 * @param leavesEntry whether a use of the route is an entry in the audit trail
 * @example await callAs(person)('GET /admin/failed/:seq', { params: { seq: 7 } })
 */
export function createRouteCaller(
  app: FastifyInstance,
  leavesEntry: (name: string) => boolean,
): (person: Person) => CallRoute {
  /** Answers of GET by viewer and path. */
  const shared = new Map<string, { readonly since: number; readonly answer: Promise<unknown> }>()

  return (person) => {
    const view = JSON.stringify([person.scopes.toSorted(), person.brands])
    return (async (name: string, ...[request = {}]: [request?: AnyRequest]) => {
      // Without its last parameter, the path may be that of another route.
      if (Object.values(request.params ?? {}).includes(''))
        throw new HttpError(404, 'the address of the page is not complete')
      const { method, path, headers, body } = writeRequest(name, request)
      const send = async (): Promise<unknown> => {
        const { statusCode, body: text } = await app.inject({
          method,
          url: path,
          headers: { ...headers, ...apiKeyHeaders(person.key) },
          remoteAddress: person.address,
          ...(body !== undefined && { payload: body }),
        })
        const answer = JSON.parse(text) as { readonly error?: string }
        if (statusCode !== 200) throw new HttpError(statusCode, answer.error ?? text)
        return answer
      }
      if (method === 'POST') {
        shared.clear()
        return send().finally(() => shared.clear())
      }
      const now = clock.monotonic()
      for (const [key, { since }] of shared) if (now - since >= sharedMs) shared.delete(key)
      const id = `${leavesEntry(name) ? person.name : view} ${path}`
      const answer = shared.get(id)?.answer ?? send()
      if (!shared.has(id)) shared.set(id, { since: now, answer })
      return answer
    }) as CallRoute
  }
}
