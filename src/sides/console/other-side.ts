// The other side's /admin, for its steps of a message. It is called with a key of its own, which no browser gets.

import { HttpError } from '../../base/http/http-error.ts'
import { clock } from '../../base/runtime/clock.ts'
import { messageOf } from '../../base/runtime/message-of.ts'
import { apiKeyHeaders } from '../../contract/endpoints.ts'
import { type AnyRequest, writeRequest } from '../admin/calls.ts'
import type { CallRoute } from './call-route.ts'

/** A page does not wait for longer. */
const withinMs = 2_000

/** @param url the address of its /admin */
export const createOtherSide = ({ url, apiKey }: { readonly url: string; readonly apiKey: string }): CallRoute =>
  (async (name: string, ...[request = {}]: [request?: AnyRequest]) => {
    const { method, path, headers, body } = writeRequest(name, request)
    try {
      const response = await fetch(url + path, {
        method,
        headers: { ...headers, ...apiKeyHeaders(apiKey) },
        redirect: 'error',
        signal: clock.timeout(withinMs),
        ...(body !== undefined && { body: body as string }),
      })
      const answer = (await response.json()) as { readonly error?: string }
      if (response.status !== 200)
        throw new HttpError(response.status, answer.error ?? `it answered ${response.status}`)
      return answer
    } catch (error) {
      throw error instanceof HttpError
        ? error
        : new HttpError(503, `it does not answer (${messageOf((error as Error).cause ?? error)})`)
    }
  }) as CallRoute
