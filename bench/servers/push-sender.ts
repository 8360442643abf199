// Sends pushes as fast as it can, so many at a time over one connection. argv: how, and the target as JSON.
//
//   service       our push service: content in, outcome out
//   client        (FCM, APNs) a bare loop of the client that the service uses: ready headers and body, the answer only looked at
//   node:http2    (FCM, APNs) a bare loop of that
//   encryption    (Web Push) nothing is sent: only the bodies are made

import { connect } from 'node:http2'
import library, { type PushSubscription } from 'web-push'
import type { Failed } from '../../src/contract/outcome.ts'
import { apnsNotification, type Notification } from '../../src/providers/apns/notification.ts'
import { createProviderTokens } from '../../src/providers/apns/provider-token.ts'
import { createAccessTokens } from '../../src/providers/fcm/access-token.ts'
import { fcmMessage } from '../../src/providers/fcm/message.ts'
import { createHttp2Client } from '../../src/providers/http2/client.ts'
import { payloadOf } from '../../src/providers/web-push/payload.ts'
import { uuidv7 } from '../../src/runtime/ids.ts'
import { answers } from '../harness/answers.ts'
import { apnsTopic, makePush, type PushTarget, serviceFor, tokensOf } from '../harness/push-target.ts'

type Send = (token: string) => Promise<void>

const [how = 'service', json = ''] = process.argv.slice(2)
const target = JSON.parse(json) as PushTarget
const ways: Record<string, () => Promise<Send>> = { service, client, 'node:http2': nodeHttp2, encryption }
const tokens = tokensOf(target, 2_000)
const inFlight = 100
const patienceMs = 15_000
const { signal } = new AbortController()
const send = await (ways[how] as () => Promise<Send>)()
let next = 0

answers({
  async send(seconds: number) {
    const began = performance.now()
    const until = began + seconds * 1_000
    let messages = 0
    const hands = Array.from({ length: inFlight }, async () => {
      while (performance.now() < until) {
        await send(tokens[next++ % tokens.length] as string)
        messages++
      }
    })
    await Promise.all(hands)
    return { messages, seconds: (performance.now() - began) / 1_000 }
  },
})

async function service(): Promise<Send> {
  const ours = serviceFor(target, 1)
  return async (token) => {
    const answer = await ours.send(makePush(target, token), { deadline: Date.now() + patienceMs, signal })
    if (answer.category !== 'successful') throw new Error(answer.error)
  }
}

async function client(): Promise<Send> {
  if (target.kind === 'web-push') throw new Error('Web Push is sent over HTTP/1.1')
  const { path, headers, identifying, body } = await ready()
  const bare = createHttp2Client({ origin: target.url, ca: target.ca })
  return async (token) => {
    const deadline = Date.now() + patienceMs
    const list = [...headers]
    const id = uuidv7()
    for (const name of identifying) list.push(name, id)
    const its = { path: path(token), headers: list, unindexed: identifying, body: body(token) }
    const answer = await bare.post({ ...its, deadline, signal })
    if (!('status' in answer) || answer.status !== 200) throw new Error('the sink did not accept')
  }
}

async function nodeHttp2(): Promise<Send> {
  if (target.kind === 'web-push') throw new Error('Web Push is sent over HTTP/1.1')
  const { path, headers, identifying, body } = await ready()
  const fixed: Record<string, string> = { ':method': 'POST' }
  for (let i = 0; i < headers.length; i += 2) fixed[headers[i] as string] = headers[i + 1] as string
  const session = connect(target.url, { ca: target.ca })
  await new Promise<void>((resolve, reject) => session.once('remoteSettings', () => resolve()).once('error', reject))
  return (token) =>
    new Promise((resolve, reject) => {
      const its: Record<string, string> = { ...fixed, ':path': path(token) }
      const id = uuidv7()
      for (const name of identifying) its[name] = id
      const stream = session.request(its)
      let status: number | undefined
      let answer = ''
      stream.setEncoding('utf8')
      stream.on('response', (answered) => {
        status = answered[':status']
      })
      stream.on('data', (text: string) => {
        answer += text
      })
      stream.on('end', () => (status === 200 ? resolve() : reject(new Error(`the sink answered ${status} ${answer}`))))
      stream.on('error', reject)
      stream.end(body(token))
    })
}

interface Ready {
  /** Names and values in turn. */
  readonly headers: readonly string[]
  /** The names of further headers, with another identifier for each message: HTTP/2 sends what it sent before as a number. */
  readonly identifying: readonly string[]
  path(token: string): string
  body(token: string): string
}

/** The bytes that our service would send; but for what is identifying, of one message only. */
async function ready(): Promise<Ready> {
  const push = makePush(target, tokens[0] as string)
  if (target.kind === 'fcm') {
    const token = await createAccessTokens(target.credentials, target.ca).get()
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
  if (target.kind !== 'apns') throw new Error('it is for FCM and APNs')
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

/** What nobody who sends Web Push can do without (RFC 8291). */
async function encryption(): Promise<Send> {
  const { ref, content } = makePush(target, tokens[0] as string)
  const payload = payloadOf(ref, content)
  return async (token) => {
    const { endpoint, keys } = JSON.parse(token) as PushSubscription
    library.generateRequestDetails({ endpoint, keys }, payload, { vapidDetails: null as never })
  }
}

function checked<Made extends object>(made: Made | Failed): Made {
  if ('category' in made) throw new Error((made as Failed).error)
  return made
}
