// A double of an HTTP provider such as OneSignal: it authenticates requests, has users, and sends each message once.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { listenLocally } from '../../support/listen-locally.ts'

export interface ProviderRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  /** The text of the body. */
  readonly text: string
}

/** Replaces the provider's answer. @returns whether it has answered */
export type Script = (request: ProviderRequest, response: ServerResponse) => boolean

export interface PushProvider {
  readonly url: string
  readonly requests: ProviderRequest[]
  /** Idempotency keys of the messages that were sent, in order. */
  readonly sent: string[]
  /** Replaces the provider's answers until it is undefined. */
  script: Script | undefined
}

export const appId = 'b2f7f966-d8cc-11e4-bed1-df8f05be55ba'
export const apiKey = 'os_v2_app_canary_key_0001'

/** Has the users 1001, 1-1001 and 2-1001; 1002 has no subscription. */
const users: Readonly<Record<string, boolean>> = { '1001': true, '1-1001': true, '2-1001': true, '1002': false }

export async function startPushProvider(t: TestContext): Promise<PushProvider> {
  const ids = new Map<string, string>()
  const provider: PushProvider & { requests: ProviderRequest[]; sent: string[] } = {
    url: '',
    requests: [],
    sent: [],
    script: undefined,
  }
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request
    const received: ProviderRequest = { method, path: url, headers, text: await text(request) }
    if (method === 'POST') provider.requests.push(received)
    if (provider.script?.(received, response)) return
    notify(received, response)
  })

  function notify({ method, path, headers, text }: ProviderRequest, response: ServerResponse): ServerResponse {
    if (method !== 'POST' || path !== '/notifications') return answer(response, 404, { errors: ['Not found'] })
    if (headers.authorization !== `Key ${apiKey}`)
      return answer(response, 403, { errors: ['Access denied. Check the key.'] })
    const body = JSON.parse(text) as {
      app_id: string
      idempotency_key: string
      include_aliases: { external_id: string[] }
      contents?: { en?: string }
    }
    if (body.app_id !== appId) return answer(response, 400, { errors: ['app_id not found.'] })
    if (body.contents?.en === undefined)
      return answer(response, 400, { errors: ['Notification content must not be null'] })
    const [user = ''] = body.include_aliases.external_id
    const before = ids.get(body.idempotency_key)
    if (before !== undefined) return answer(response, 200, { id: before }, { 'idempotent-replayed': 'true' })
    if (!Object.hasOwn(users, user))
      return answer(response, 200, { id: '', errors: { invalid_aliases: { external_id: [user] } } })
    if (!users[user]) return answer(response, 200, { id: '', errors: ['All included players are not subscribed'] })
    const id = `os-${ids.size + 1}`
    ids.set(body.idempotency_key, id)
    provider.sent.push(body.idempotency_key)
    return answer(response, 200, { id, external_id: null })
  }

  const { url } = await listenLocally(t, server)
  return Object.assign(provider, { url })
}

export function answer(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): ServerResponse {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  return response.end(typeof body === 'string' ? body : JSON.stringify(body))
}
