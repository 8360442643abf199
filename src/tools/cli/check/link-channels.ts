// The brokers over which the checker publishes links of devices to a platform.

import { clock } from '../../../base/runtime/clock.ts'
import { uuidv7 } from '../../../base/runtime/ids.ts'
import { deviceMessageType } from '../../../contract/endpoints.ts'
import { brokerPublisher } from '../../../sides/config/compose/device-channels.ts'
import type { LinkChannel } from '../../checker/facts.ts'

type Address = Parameters<typeof brokerPublisher>[0]
type Publisher = Awaited<ReturnType<typeof brokerPublisher>>

const withinMs = 30_000
const names = { amqp: 'RabbitMQ', kafka: 'Kafka' } as const

/** The header of a message-queue broker that a platform ignores. */
export const contraryHeader = { type: deviceMessageType.unlink }

export const linkChannelOf = async (to: Address, brand: string, at: string): Promise<LinkChannel> =>
  publishingTo(
    names[to.is],
    await brokerPublisher(to, brand, at),
    to.is === 'amqp' ? await brokerPublisher(to, brand, at, contraryHeader) : undefined,
  )

/**
 * @param name the broker, for people
 * @param contrary publishes with the header of an unlink
 */
export function publishingTo(name: string, publisher: Publisher, contrary?: Publisher): LinkChannel {
  const over =
    (through: Publisher): LinkChannel['publish'] =>
    async (what, userId, body) => {
      const message = { id: uuidv7(), what, userId, body }
      const context = { deadline: clock.now() + withinMs, signal: new AbortController().signal }
      const [outcome] = await through.publish([message], context)
      return outcome === undefined || outcome.category === 'successful' ? undefined : outcome.error
    }
  return {
    name,
    publish: over(publisher),
    ...(contrary && { linkWithHeader: (userId, body) => over(contrary)('link', userId, body) }),
    close: async () => void (await Promise.all([publisher.close(), contrary?.close()])),
  }
}
