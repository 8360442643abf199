// The target of the push benchmarks. It accepts everything and parses nothing, so it is never the limit. (The stand-ins verify and
// store requests, which costs more than sending.) argv: fcm, apns or web-push, and the latency in ms.

import { createECDH, randomUUID } from 'node:crypto'
import { listenAt } from '../../src/base/runtime/local-server.ts'
import { makeVapidKeys } from '../../src/subjects/providers/web-push/vapid.ts'
import { createApnsKeys } from '../../src/tools/stand-ins/apns-keys.ts'
import { makeCertificate } from '../../src/tools/stand-ins/certificate.ts'
import { listenTokenEndpoint } from '../../src/tools/stand-ins/fcm-token-endpoint.ts'
import { handleCalls } from '../harness/handle-calls.ts'
import { http1Sink } from '../harness/http1-sink.ts'
import { dataFrame, endHeaders, endStream, headersFrame, http2Sink, literal, status200 } from '../harness/http2-sink.ts'
import { type PushKind, type PushTarget, webPushOrigin } from '../harness/push-target.ts'

const [kind = 'fcm', latency = '0'] = process.argv.slice(2) as [PushKind, string]
const latencyMs = Number(latency)
const targets: Record<PushKind, () => Promise<PushTarget>> = { fcm: fcmSink, apns: apnsSink, 'web-push': webPushSink }
const target = await targets[kind]()
handleCalls({ target: () => target })

async function fcmSink(): Promise<PushTarget> {
  const certificate = makeCertificate()
  const lifetimeSeconds = 3_599
  const endpoint = await listenTokenEndpoint({ port: 0, certificate, clock: Date.now, lifetimeSeconds })
  const name = '{"name":"projects/stand-in/messages/0:1763721600000000%31bd1c9631bd1c96"}'
  const type = literal('content-type', 'application/json; charset=UTF-8')
  const server = http2Sink({ certificate, streams: 100, latencyMs }, [
    { type: headersFrame, flags: endHeaders, payload: Buffer.concat([status200, type]) },
    { type: dataFrame, flags: endStream, payload: Buffer.from(name) },
  ])
  return {
    kind: 'fcm',
    url: await listenAt(server, { scheme: 'https' }),
    ca: certificate.cert,
    credentials: endpoint.account('stand-in'),
  }
}

async function apnsSink(): Promise<PushTarget> {
  const certificate = makeCertificate()
  const server = http2Sink({ certificate, streams: 1_000, latencyMs }, [
    {
      type: headersFrame,
      flags: endHeaders | endStream,
      payload: Buffer.concat([status200, literal('apns-id', randomUUID())]),
    },
  ])
  return {
    kind: 'apns',
    url: await listenAt(server, { scheme: 'https' }),
    ca: certificate.cert,
    credentials: createApnsKeys(Date.now).makeKey(),
  }
}

async function webPushSink(): Promise<PushTarget> {
  const location = `${webPushOrigin}/m/${randomUUID()}`
  const server = http1Sink(`HTTP/1.1 201 Created\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`, latencyMs)
  return {
    kind: 'web-push',
    url: await listenAt(server),
    credentials: makeVapidKeys(),
    p256dh: createECDH('prime256v1').generateKeys().toString('base64url'),
  }
}
