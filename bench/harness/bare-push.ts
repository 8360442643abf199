// Sends the bytes that our push services send, and does nothing else: a baseline of the push benchmarks.

import { connect } from 'node:http2'
import { createHttp2Client } from '../../src/base/http2/client.ts'
import { uuidv7 } from '../../src/base/runtime/ids.ts'
import type { Failed } from '../../src/contract/outcome.ts'
import { apnsNotification, type Notification } from '../../src/subjects/providers/apns/notification.ts'
import { createProviderTokens } from '../../src/subjects/providers/apns/provider-token.ts'
import { createAccessTokens } from '../../src/subjects/providers/fcm/access-token.ts'
import { fcmMessage } from '../../src/subjects/providers/fcm/message.ts'
import { apnsTopic, makePush, type PushTarget, tokensOf } from './push-target.ts'

/** Sends one push to the device with this token. Rejects unless the service accepts it. */
export type BareSend = (token: string) => Promise<void>

export const timeoutMs = 15_000
const { signal } = new AbortController()

/** A bare loop of the HTTP/2 client of our services: only the status of an answer is checked. */
export async function clientLoop(target: PushTarget): Promise<BareSend> {
  if (target.kind === 'web-push') throw new Error('the sink of Web Push speaks HTTP/1.1')
  const { path, headers, identifying, body } = await prepareRequest(target)
  const bare = createHttp2Client({ origin: target.url, ca: target.ca })
  return async (token) => {
    const deadline = Date.now() + timeoutMs
    const list = [...headers]
    const id = uuidv7()
    for (const name of identifying) list.push(name, id)
    const request = { path: path(token), headers: list, unindexed: identifying, body: body(token) }
    const answer = await bare.post({ ...request, deadline, signal })
    if (!('status' in answer) || answer.status !== 200) throw new Error('the sink did not accept')
  }
}

/** A bare loop of node:http2 over one connection. */
export async function nodeHttp2Loop(target: PushTarget): Promise<BareSend> {
  if (target.kind === 'web-push') throw new Error('the sink of Web Push speaks HTTP/1.1')
  const { path, headers, identifying, body } = await prepareRequest(target)
  const fixed: Record<string, string> = { ':method': 'POST' }
  for (let i = 0; i < headers.length; i += 2) fixed[headers[i] as string] = headers[i + 1] as string
  const session = connect(target.url, { ca: target.ca })
  await new Promise<void>((resolve, reject) => session.once('remoteSettings', () => resolve()).once('error', reject))
  return (token) =>
    new Promise((resolve, reject) => {
      const fields: Record<string, string> = { ...fixed, ':path': path(token) }
      const id = uuidv7()
      for (const name of identifying) fields[name] = id
      const stream = session.request(fields)
      let status: number | undefined
      let answer = ''
      stream.setEncoding('utf8')
      stream.on('response', (head) => {
        status = head[':status']
      })
      stream.on('data', (text: string) => {
        answer += text
      })
      stream.on('end', () => (status === 200 ? resolve() : reject(new Error(`the sink answered ${status} ${answer}`))))
      stream.on('error', reject)
      stream.end(body(token))
    })
}

interface PreparedRequest {
  /** Names and values alternately. */
  readonly headers: readonly string[]
  /** The names of headers with a new identifier for each message. (HTTP/2 sends a repeated value as an index.) */
  readonly identifying: readonly string[]
  path(token: string): string
  body(token: string): string
}

/** Prepares the bytes that our service would send. All but the identifying headers are of one message. */
async function prepareRequest(target: PushTarget): Promise<PreparedRequest> {
  const push = makePush(target, tokensOf(target, 1)[0] as string)
  if (target.kind === 'fcm') {
    const token = await createAccessTokens(target.credentials, { ca: target.ca }).get()
    if (typeof token !== 'string') throw new Error(token.error)
    const [before = '', after = ''] = checked<{ body: string }>(fcmMessage(push, Date.now())).body.split(
      push.device.token,
    )
    return {
      headers: ['authorization', `Bearer ${token}`, 'content-type', 'application/json'],
      identifying: [],
      path: () => `/v1/projects/${(target.credentials as { project_id: string }).project_id}/messages:send`,
      body: (device) => before + device + after,
    }
  }
  if (target.kind !== 'apns') throw new Error('only for FCM and APNs')
  const token = await createProviderTokens(target.credentials).get(Date.now())
  const { headers, body } = checked<Notification>(apnsNotification(push, apnsTopic))
  const identifying = ['apns-collapse-id', 'apns-id']
  return {
    headers: ['authorization', `bearer ${token}`, ...headers.slice(0, -2 * identifying.length)],
    identifying,
    path: (device) => `/3/device/${device}`,
    body: () => body,
  }
}

function checked<Made extends object>(made: Made | Failed): Made {
  if ('category' in made) throw new Error((made as Failed).error)
  return made
}
