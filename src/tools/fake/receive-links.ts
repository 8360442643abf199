// Device links that a fake platform receives: over REST (§4.2), with behaviours, and from brokers (§4.3).

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { BrokerConsumer, Received } from '../../base/brokers/consumer.ts'
import { clock } from '../../base/runtime/clock.ts'
import { readBody } from '../../base/runtime/read-body.ts'
import { resetSocket } from '../../base/runtime/reset-socket.ts'
import { readDeviceEvent } from '../../contract/device-events.ts'
import { readLink } from '../../subjects/devices/read-link.ts'
import type { Behaviours } from './behaviours.ts'
import { exchange, reply, shorten } from './forward.ts'
import { type DeviceEndpoint, type PlatformBehaviour, platformBehaviourOf } from './platform-behaviour.ts'
import type { PlatformMessage, PlatformRequest } from './platform-request.ts'
import type { Recorder } from './recorder.ts'

export interface ReceiveLinksOptions {
  /** The address of the real platform. */
  readonly real: string
  readonly behaviours: Behaviours<PlatformBehaviour>
  readonly recorder: Recorder<PlatformRequest>
}

export async function receiveLink(
  { real, behaviours, recorder }: ReceiveLinksOptions,
  endpoint: DeviceEndpoint,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await readBody(request)
  if (body === undefined) return reply(response, 413, '{"error":"the body is larger than 64 MiB"}')
  const n = recorder.next()
  const at = clock.now()
  const messages = usersOf(body)
  const behaviour = platformBehaviourOf(behaviours, endpoint, new Set(messages.map(({ user }) => user)))
  const record = (result: Partial<PlatformRequest>): void =>
    recorder.record({
      n,
      at,
      ms: clock.now() - at,
      direction: 'received',
      endpoint,
      messages,
      ...result,
      ...(behaviour && { behaviour }),
    })
  const { delay_ms: delayMs, hang, cut, answer } = behaviour ?? {}
  if (delayMs !== undefined) await new Promise<void>((resolve) => clock.setTimeout(resolve, delayMs).unref())
  if (hang) return record({})
  if (cut === 'before') {
    record({})
    return void resetSocket(response.socket)
  }
  if (answer) {
    record({ status: answer.status, answer: shorten(answer.body ?? '') })
    return reply(response, answer.status, answer.body ?? '', answer.headers)
  }
  const { status, text, headers } = await exchange(real, request, body)
  const outcome = status === 200 ? 'stored' : 'refused'
  const stored = messages.map((message) => ({ ...message, outcome }) as const)
  if (cut === 'after') {
    record({ messages: stored })
    return void resetSocket(response.socket)
  }
  record({ messages: stored, status, answer: shorten(text) })
  reply(response, status, text, headers)
}

function usersOf(body: Uint8Array): readonly PlatformMessage[] {
  const record = readDeviceEvent(body)
  return typeof record === 'string' ? [] : [{ user: record.user_id }]
}

/** A consumer that records the messages that it passes on. */
export function recordingConsumer(
  consumer: BrokerConsumer,
  brand: string,
  recorder: Recorder<PlatformRequest>,
): BrokerConsumer {
  return {
    ...consumer,
    consume: (take, signal) =>
      consumer.consume(async (received) => {
        const at = clock.now()
        const taken = await take(received)
        const ms = clock.now() - at
        for (const [place, message] of received.entries())
          recorder.record({
            n: recorder.next(),
            at,
            ms,
            direction: 'received',
            endpoint: consumer.name,
            messages: [linkOf(message, brand, taken[place] === 'taken')],
          })
        return taken
      }, signal),
  }
}

function linkOf(message: Received, brand: string, isStored: boolean): PlatformMessage {
  const [user = ''] = usersOf(message.body).map((each) => each.user)
  if (isStored) return { user, outcome: 'stored' }
  const read = readLink(message, { brands: brand })
  return { user, outcome: 'refused', error: 'invalid' in read ? read.invalid : 'it could not be stored' }
}
