// A minimal double of Google's servers behind Chromium's Web Push. Chromium checks in (for a device id), registers each
// subscription (register3) and keeps a connection for messages (MCS: protobuf frames over TLS). Messages are sent to the Web Push
// stand-in, and this server delivers the accepted ones to the browser.

import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { createServer as createTlsServer, type TLSSocket } from 'node:tls'
import { makeCertificate } from '../../../src/tools/stand-ins/certificate.ts'
import type { BrowserSubscription } from '../../../src/tools/stand-ins/web-push/browser.ts'
import type { WebPushStandIn } from '../../../src/tools/stand-ins/web-push.ts'
import { listenLocally } from '../listen-locally.ts'
import { bytes, fixed64, number, readVarint, varint } from './protobuf.ts'

/** The origin of the endpoints of Chromium's subscriptions, in the builds of Linux distributions. */
export const chromiumOrigin = 'https://jmt17.google.com'

/** The tags of MCS messages. */
const tags = { heartbeatPing: 0, heartbeatAck: 1, loginRequest: 2, loginResponse: 3, dataMessage: 8 }
const mcsVersion = 41

/** @returns the switches that make Chromium use this server; it must also ignore certificate errors */
export async function startFakeGcm(
  file: { after(work: () => Promise<void>): void },
  standIn: WebPushStandIn,
): Promise<readonly string[]> {
  const subscriptions = new Map<string, BrowserSubscription>()
  let connection: TLSSocket | undefined
  const setOnline = (online: boolean): void => {
    for (const subscription of subscriptions.values()) subscription.setOnline(online)
  }

  const api = createServer(async (request, response) => {
    if (request.url?.startsWith('/checkin')) {
      response.writeHead(200, { 'content-type': 'application/x-protobuf' })
      // stats_ok, time_msec, android_id, security_token, version_info
      const fields = [
        number(1, 1),
        number(3, Date.now()),
        fixed64(7, 4242424242n),
        fixed64(8, 777777n),
        bytes(11, 'v1'),
      ]
      return void response.end(Buffer.concat(fields))
    }
    response.end(register(Object.fromEntries(new URLSearchParams(await text(request)))))
  })

  /** The subtype identifies a subscription; `sender` is its applicationServerKey. */
  function register(form: Readonly<Record<string, string>>): string {
    const { app = '', sender = '', delete: leaving, 'X-subtype': subtype = '' } = form
    if (leaving === 'true') {
      subscriptions.get(subtype)?.forget()
      subscriptions.delete(subtype)
      return `token=${subtype}`
    }
    const id = randomBytes(16).toString('hex')
    const subscription = standIn.addBrowser({
      id,
      applicationServerKey: sender,
      online: connection !== undefined,
      deliver(mail) {
        const appData = (key: string, value: string): Buffer =>
          bytes(7, Buffer.concat([bytes(1, key), bytes(2, value)]))
        // id, from, to, category, app_data, persistent_id, ttl, sent, raw_data
        const stanza = [
          bytes(2, mail.id),
          bytes(3, sender),
          bytes(4, ''),
          bytes(5, app),
          appData('subtype', subtype),
          appData('content-encoding', 'aes128gcm'),
          bytes(9, mail.id),
          number(17, mail.ttl),
          number(18, mail.at),
          bytes(21, mail.body),
        ]
        connection?.write(frame(tags.dataMessage, Buffer.concat(stanza)))
        subscription.acknowledge(mail.id)
      },
    })
    subscriptions.set(subtype, subscription)
    return `token=${id}`
  }

  const mcs = createTlsServer(makeCertificate(), (socket) => {
    let read = Buffer.alloc(0)
    let versionRead = false
    socket.on('error', () => {})
    socket.on('close', () => {
      if (connection !== socket) return
      connection = undefined
      setOnline(false)
    })
    socket.on('data', (chunk) => {
      read = Buffer.concat([read, chunk])
      if (!versionRead) {
        read = read.subarray(1)
        versionRead = true
      }
      for (let next = readFrame(read); next; next = readFrame(read)) {
        read = read.subarray(next.length)
        if (next.tag === tags.heartbeatPing) socket.write(frame(tags.heartbeatAck, Buffer.alloc(0)))
        if (next.tag !== tags.loginRequest) continue
        // id, server_timestamp
        const login = Buffer.concat([bytes(1, 'login'), number(8, Date.now())])
        socket.write(Buffer.concat([Buffer.from([mcsVersion]), frame(tags.loginResponse, login)]))
        connection = socket
        setOnline(true)
      }
    })
  })

  const { url } = await listenLocally(file, api)
  const { port } = await listenLocally(file, mcs)
  return [
    `--gcm-checkin-url=${url}/checkin`,
    `--gcm-registration-url=${url}/register`,
    `--gcm-mcs-endpoint=https://127.0.0.1:${port}`,
  ]
}

const frame = (tag: number, message: Buffer): Buffer =>
  Buffer.concat([Buffer.from([tag]), varint(message.length), message])

/** Reads the first frame of a buffer. Undefined if it is incomplete. */
function readFrame(read: Buffer): { readonly tag: number; readonly length: number } | undefined {
  const size = readVarint(read, 1)
  if (!size || read.length < size.next + size.value) return undefined
  return { tag: read[0] as number, length: size.next + size.value }
}
