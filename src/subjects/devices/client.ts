// A client for services that only publish links and unlinks to a platform: without a queue, a store or a server.

import { clock } from '../../base/runtime/clock.ts'
import { uuidv7 } from '../../base/runtime/ids.ts'
import { checkDeviceEvent, type DeviceEventRecord, type DeviceTokenRecord } from '../../contract/device-events.ts'
import { justAfter, rfc3339, type Timestamp, timestampOf } from '../../contract/timestamp.ts'
import type { DevicePublisher } from './device-publisher.ts'

export type { DeviceMessage, DevicePublisher } from './device-publisher.ts'
export { type AmqpPublisherOptions, amqpPublisher } from './publishers/amqp-publisher.ts'
export { type KafkaPublisherOptions, kafkaPublisher } from './publishers/kafka-publisher.ts'
export { type RestPublisherOptions, restPublisher } from './publishers/rest-publisher.ts'

/** A link or unlink to publish. */
export interface DeviceNews {
  readonly userId: string
  readonly tokens: readonly DeviceTokenRecord[]
  /** When the event happened, not when it is published; a later event must have a later time (row 20). Default: now. */
  readonly timestamp?: string
  readonly origin: string
  readonly skipPublishing?: boolean
}

/** The platform did not accept the event. */
export class DeviceLinkError extends Error {
  /** True: retry the same event later. False: the event itself is invalid. */
  readonly again: boolean
  constructor(message: string, again: boolean) {
    super(message)
    this.name = 'DeviceLinkError'
    this.again = again
  }
}

export interface DeviceClient {
  /** Resolves when the platform or its broker has accepted the event. @throws DeviceLinkError */
  linkDevice(news: DeviceNews): Promise<void>
  unlinkDevice(news: DeviceNews): Promise<void>
  close(): Promise<void>
}

/**
 * Publishes links and unlinks one at a time. Each call returns when the event was accepted, or throws; nothing is retried. A
 * caller that must not lose an event has to store it until it is accepted, or use `bellwire operator`, which does that.
 *
 * @example
 * const client = createDeviceClient(restPublisher({ url: 'https://platform.example', apiKey: process.env.PLATFORM_KEY }))
 * await client.linkDevice({
 *   userId: '1001', tokens: [{ token, channel: 'android', provider: 'firebase' }], origin: 'www.example.com',
 * })
 */
export function createDeviceClient(publisher: DevicePublisher, { timeoutMs = 15_000 } = {}): DeviceClient {
  const never = new AbortController().signal
  // Events are published one after the other, so that the first call arrives first and has the earlier time.
  let last: Promise<unknown> = Promise.resolve()
  let latest: Timestamp = ''

  function now(): string {
    const wall = timestampOf(clock.now())
    latest = wall > latest ? wall : justAfter(latest)
    return rfc3339(latest)
  }

  async function publish(what: 'link' | 'unlink', userId: string, record: DeviceEventRecord): Promise<void> {
    const message = { id: uuidv7(), what, userId, body: JSON.stringify(record) }
    const [outcome] = await publisher.publish([message], { deadline: clock.now() + timeoutMs, signal: never })
    if (outcome === undefined || outcome.category === 'successful') return
    throw new DeviceLinkError(outcome.error, outcome.category === 'fatal')
  }

  function enqueue(what: 'link' | 'unlink', news: DeviceNews): Promise<void> {
    const record = recordOf(news, news.timestamp ?? now())
    if (typeof record === 'string') return Promise.reject(new DeviceLinkError(record, false))
    const published = last.then(() => publish(what, news.userId, record))
    last = published.catch(() => {})
    return published
  }

  return {
    linkDevice: (news) => enqueue('link', news),
    unlinkDevice: (news) => enqueue('unlink', news),
    async close() {
      await last
      await publisher.close()
    },
  }
}

function recordOf(
  { userId, tokens, origin, skipPublishing }: DeviceNews,
  timestamp: string,
): DeviceEventRecord | string {
  return checkDeviceEvent({
    user_id: userId,
    tokens,
    timestamp,
    origin,
    ...(skipPublishing !== undefined && { skip_publishing: skipPublishing }),
  })
}
