// The part of Mozilla's push protocol that Firefox needs: JSON messages over a WebSocket, subprotocol push-notification. To
// connect Firefox, set its preferences dom.push.serverURL = ws://127.0.0.1:PORT/ and dom.push.testing.allowInsecureServerURL =
// true.

import { randomUUID } from 'node:crypto'
import type { Server } from 'node:http'
import { type WebSocket, WebSocketServer } from 'ws'
import { objectIn } from '../../../base/runtime/json.ts'
import type { BrowserOptions, BrowserSubscription } from './browser.ts'
import type { Mail } from './mailbox.ts'

/** One installation of Firefox. Its channels are its subscriptions. */
interface Agent {
  readonly channels: Map<string, BrowserSubscription>
  socket: WebSocket | undefined
}

/** Serves the WebSocket connections of a server. */
export function serveAutopush(
  server: Server,
  { addBrowser }: { addBrowser(browser: BrowserOptions): BrowserSubscription },
): { close(): void } {
  const agents = new Map<string, Agent>()
  const sockets = new WebSocketServer({ server, handleProtocols: () => 'push-notification' })

  sockets.on('connection', (socket) => {
    let agent: Agent | undefined
    const send = (message: object): void => socket.send(JSON.stringify(message))

    socket.on('error', () => socket.terminate())
    socket.on('close', () => {
      if (agent?.socket !== socket) return
      agent.socket = undefined
      for (const channel of agent.channels.values()) channel.setOnline(false)
    })
    socket.on('message', (data) => {
      const message = objectIn(String(data)) as Message | undefined
      if (message === undefined) return socket.close(1003, 'not a message')
      const { channelID = '' } = message
      if (message.messageType === 'hello') return hello(message)
      // A ping is an empty object, and so is its answer.
      if (message.messageType === undefined) return send({})
      if (agent === undefined) return socket.close(4401, 'hello comes first')
      switch (message.messageType) {
        case 'register': {
          const channel = agent.channels.get(channelID) ?? register(agent, channelID, message.key)
          return send({ messageType: 'register', channelID, status: 200, pushEndpoint: channel.endpoint })
        }
        case 'unregister':
          agent.channels.get(channelID)?.forget()
          agent.channels.delete(channelID)
          return send({ messageType: 'unregister', channelID, status: 200 })
        case 'ack':
          for (const { channelID: id = '', version = '' } of message.updates ?? [])
            agent.channels.get(id)?.acknowledge(version)
      }
    })

    function hello({ uaid }: Message): void {
      const known = uaid === undefined ? undefined : agents.get(uaid)
      const id = known ? (uaid as string) : randomUUID().replaceAll('-', '')
      agent = known ?? { channels: new Map(), socket }
      agent.socket = socket
      agents.set(id, agent)
      send({ messageType: 'hello', status: 200, uaid: id, use_webpush: true, broadcasts: {} })
      // Delivers the messages that were stored while it was offline.
      for (const channel of agent.channels.values()) channel.setOnline(true)
    }
  })

  function register(agent: Agent, channelID: string, key: string | undefined): BrowserSubscription {
    const deliver = ({ id, ttl, topic, body }: Mail): void =>
      agent.socket?.send(
        JSON.stringify({
          messageType: 'notification',
          channelID,
          version: id,
          ttl,
          ...(topic !== undefined && { topic }),
          ...(body.length > 0 && { data: body.toString('base64url'), headers: { encoding: 'aes128gcm' } }),
        }),
      )
    const applicationServerKey = key?.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
    const channel = addBrowser({ applicationServerKey, deliver })
    agent.channels.set(channelID, channel)
    return channel
  }

  return {
    close() {
      for (const socket of sockets.clients) socket.terminate()
      sockets.close()
    },
  }
}

interface Message {
  readonly messageType?: string
  readonly uaid?: string
  readonly channelID?: string
  /** The applicationServerKey. */
  readonly key?: string
  readonly updates?: readonly { readonly channelID?: string; readonly version?: string }[]
}
