// Converts the validated configuration to publishers and consumers of device links.

import type { DevicePublisher } from '../../../subjects/devices/device-publisher.ts'
import type { LinkSource } from '../../../subjects/devices/link-intake.ts'
import type { Publishing } from '../../../subjects/devices/outbox.ts'
import { amqpPublisher } from '../../../subjects/devices/publishers/amqp-publisher.ts'
import { kafkaPublisher } from '../../../subjects/devices/publishers/kafka-publisher.ts'
import { restPublisher } from '../../../subjects/devices/publishers/rest-publisher.ts'
import { type DeviceLinksConfig, defaultName, type PublishConfig } from '../../../subjects/settings/device-channels.ts'
import { createConsumer, kafkaAddress } from './consumer.ts'
import { addressOptions, certificateOptions } from './services/address.ts'

/**
 * @param at the path of the settings: 'operator.publish[0]'
 * @param site the origin of the user's site, if it is known: published unless `origin` is set
 */
export async function publishOptions(
  { to, providers, origin, ...options }: PublishConfig,
  at: string,
  site?: string,
): Promise<Publishing> {
  const published = origin ?? (site === undefined ? undefined : new URL(site).host)
  return {
    ...options,
    publisher:
      to.is === 'rest' ? await restPublisherOf(to, `${at}.to`) : await brokerPublisher(to, options.brand, `${at}.to`),
    ...(providers && { providers: providers.includes('all') ? 'all' : providers }),
    ...(published !== undefined && { origin: published }),
  }
}

type Target<Is> = Extract<PublishConfig['to'], { is: Is }>

async function restPublisherOf(to: Target<'rest'>, at: string): Promise<DevicePublisher> {
  const { url, apiKey, connections } = to
  return restPublisher({ url, apiKey, connections, ...(await addressOptions(to, at)) })
}

export async function brokerPublisher(
  to: Target<'amqp' | 'kafka'>,
  brand: string,
  at: string,
  headers?: Readonly<Record<string, string>>,
): Promise<DevicePublisher> {
  const certificates = await certificateOptions(to, at)
  if (to.is === 'kafka')
    return kafkaPublisher({ ...kafkaAddress(to, at), ...certificates, topic: to.topic ?? defaultName(brand) })
  return amqpPublisher({
    url: to.url,
    ...certificates,
    ...(to.exchange !== undefined && { exchange: to.exchange }),
    routingKey: to.routingKey ?? defaultName(brand),
    ...(headers && { headers }),
  })
}

export async function linkChannel(
  { from, brand, origins = [] }: DeviceLinksConfig,
  index: number,
): Promise<LinkSource> {
  const byOrigin = Object.fromEntries(origins.map(({ origin, brand }) => [origin, brand]))
  const consumer = await createConsumer(from, defaultName(brand), `platform.device_links[${index}].from`)
  return { consumer, brands: brand ?? byOrigin }
}
