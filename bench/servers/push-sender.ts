// Sends pushes at full speed, with a fixed concurrency over one connection. argv: the method, and the target as JSON.
//
//   service       our push service, from content to outcome
//   client        (FCM, APNs) a bare loop of the service's HTTP/2 client: prepared headers and body, only the status is checked
//   node:http2    (FCM, APNs) a bare loop of node:http2
//   encryption    (Web Push) encrypts the bodies and sends nothing

import library, { type PushSubscription } from 'web-push'
import { payloadOf } from '../../src/subjects/providers/web-push/payload.ts'
import { type BareSend, clientLoop, nodeHttp2Loop, timeoutMs } from '../harness/bare-push.ts'
import { handleCalls } from '../harness/handle-calls.ts'
import { makePush, type PushTarget, serviceFor, tokensOf } from '../harness/push-target.ts'

const [method = 'service', json = ''] = process.argv.slice(2)
const target = JSON.parse(json) as PushTarget
const methods: Record<string, () => Promise<BareSend>> = {
  service,
  client: () => clientLoop(target),
  'node:http2': () => nodeHttp2Loop(target),
  encryption,
}
const tokens = tokensOf(target, 2_000)
const concurrency = 100
const { signal } = new AbortController()
const send = await (methods[method] as () => Promise<BareSend>)()
let next = 0

handleCalls({
  async send(seconds: number) {
    const began = performance.now()
    const until = began + seconds * 1_000
    let messages = 0
    const loops = Array.from({ length: concurrency }, async () => {
      while (performance.now() < until) {
        await send(tokens[next++ % tokens.length] as string)
        messages++
      }
    })
    await Promise.all(loops)
    return { messages, seconds: (performance.now() - began) / 1_000 }
  },
})

async function service(): Promise<BareSend> {
  const ours = serviceFor(target, 1)
  return async (token) => {
    const answer = await ours.send(makePush(target, token), { deadline: Date.now() + timeoutMs, signal })
    if (answer.category !== 'successful') throw new Error(answer.error)
  }
}

/** The encryption that every sender of Web Push needs (RFC 8291). */
async function encryption(): Promise<BareSend> {
  const { ref, content } = makePush(target, tokens[0] as string)
  const payload = payloadOf(ref, content)
  return async (token) => {
    const { endpoint, keys } = JSON.parse(token) as PushSubscription
    library.generateRequestDetails({ endpoint, keys }, payload, { vapidDetails: null as never })
  }
}
