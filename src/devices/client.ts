// For the operator's own services, and for anybody who only wants to tell a platform of links: no queue, no store, no server.

import { checkDeviceEvent, type DeviceEventRecord, type DeviceTokenRecord } from '../contract/device-events.ts'
import { uuidv7 } from '../runtime/ids.ts'
import type { DevicePublisher } from './device-channel.ts'
import { justAfter, rfc3339, type Timestamp, timestampOf } from './timestamp.ts'

export { type AmqpPublisherOptions, amqpPublisher } from './channels/amqp-publisher.ts'
export { type KafkaPublisherOptions, kafkaPublisher } from './channels/kafka-publisher.ts'
export { type RestPublisherOptions, restPublisher } from './channels/rest-publisher.ts'
export type { DeviceMessage, DevicePublisher } from './device-channel.ts'

/** What is told; `timestamp` is now where it is left out. */
export interface DeviceNews {
  readonly userId: string
  readonly tokens: readonly DeviceTokenRecord[]
  /** When it happened, not when it is told: a later event must have a later time (row 20). */
  readonly timestamp?: string
  readonly origin: string
  readonly skipPublishing?: boolean
}

/** The platform did not take it. */
export class DeviceLinkError extends Error {
  /** True: the same again, later, may be taken. False: it is wrong as it is. */
  readonly again: boolean
  constructor(message: string, again: boolean) {
    super(message)
    this.name = 'DeviceLinkError'
    this.again = again
  }
}

export interface DeviceClient {
  /** Resolves when the platform, or its broker, has it. @throws DeviceLinkError */
  linkDevice(news: DeviceNews): Promise<void>
  unlinkDevice(news: DeviceNews): Promise<void>
  close(): Promise<void>
}

/**
 * Tells a platform of one link or unlink at a time, and says at once whether it was taken. It repeats nothing by itself:
 * who must not lose an event keeps it until it was taken, or lets `bellwire operator` do that.
 *
 * @example
 * const client = createDeviceClient(restPublisher({ url: 'https://platform.example', apiKey: process.env.PLATFORM_KEY }))
 * await client.linkDevice({
 *   userId: '1001', tokens: [{ token, channel: 'android', provider: 'firebase' }], origin: 'www.example.com',
 * })
 */
export function createDeviceClient(publisher: DevicePublisher, { timeoutMs = 15_000 } = {}): DeviceClient {
  const never = new AbortController().signal
  // One after the other: what is told first arrives first, and has the earlier time.
  let last: Promise<unknown> = Promise.resolve()
  let clock: Timestamp = ''

  function now(): string {
    const wall = timestampOf(Date.now())
    clock = wall > clock ? wall : justAfter(clock)
    return rfc3339(clock)
  }

  async function tell(what: 'link' | 'unlink', userId: string, record: DeviceEventRecord): Promise<void> {
    const message = { id: uuidv7(), what, userId, body: JSON.stringify(record) }
    const [outcome] = await publisher.publish([message], { deadline: Date.now() + timeoutMs, signal: never })
    if (outcome === undefined || outcome.category === 'successful') return
    throw new DeviceLinkError(outcome.error, outcome.category === 'fatal')
  }

  function inTurn(what: 'link' | 'unlink', news: DeviceNews): Promise<void> {
    const record = recordOf(news, news.timestamp ?? now())
    if ('invalid' in record) return Promise.reject(new DeviceLinkError(record.invalid, false))
    const told = last.then(() => tell(what, news.userId, record))
    last = told.catch(() => {})
    return told
  }

  return {
    linkDevice: (news) => inTurn('link', news),
    unlinkDevice: (news) => inTurn('unlink', news),
    async close() {
      await last
      await publisher.close()
    },
  }
}

function recordOf(
  { userId, tokens, origin, skipPublishing }: DeviceNews,
  timestamp: string,
): DeviceEventRecord | { readonly invalid: string } {
  const record = {
    user_id: userId,
    tokens: [...tokens],
    timestamp,
    origin,
    ...(skipPublishing !== undefined && { skip_publishing: skipPublishing }),
  }
  const read = checkDeviceEvent(record)
  return 'invalid' in read ? read : record
}
