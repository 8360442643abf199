import { missingPackage } from '../../base/runtime/optional-package.ts'
import type { ConsumedFrom } from '../../subjects/settings/broker.ts'
import { type DeviceLinksConfig, defaultName, type PublishConfig } from '../../subjects/settings/device-channels.ts'
import { defaultIntakeName, type IntakeConfig } from '../../subjects/settings/intake.ts'
import type { Fault } from './problem.ts'

/** Each brand is published once; brands that share a queue or topic have different origins; nothing is consumed twice. */
export function checkChannels(
  publish: readonly PublishConfig[],
  links: readonly DeviceLinksConfig[],
  intake: readonly IntakeConfig[],
): readonly Fault[] {
  const found: Fault[] = []
  const published = new Set<string>()
  const originsOf = new Map<string, Map<string, string>>()
  for (const [i, { brand, to, origin }] of publish.entries()) {
    const path = `operator.publish[${i}]`
    if (published.has(brand))
      found.push({
        path,
        description: `brand ${brand} is published already`,
        remedy: 'publish each brand to one platform',
      })
    published.add(brand)
    found.push(...checkBroker(`${path}.to`, to))
    const destination = destinationOf(to, brand)
    const origins = destination === undefined ? undefined : (originsOf.get(destination) ?? new Map<string, string>())
    if (destination === undefined || !origins) continue
    originsOf.set(destination, origins)
    const named = origin ?? ''
    const other = origins.get(named) ?? (named === '' || origins.has('') ? [...origins.values()][0] : undefined)
    if (other !== undefined)
      found.push({
        path,
        description: `has the same destination as brand ${other}, and a receiver cannot distinguish their messages`,
        remedy: 'give each brand its own origin and list the origins on the platform, or use one topic per brand',
      })
    origins.set(named, brand)
  }
  const checkConsumed = consumedChecker()
  const brandOf = new Map<string, string>()
  for (const [i, { from, brand, origins }] of links.entries()) {
    const path = `platform.device_links[${i}]`
    if ((brand === undefined) === (origins === undefined))
      found.push({ path, description: 'needs either brand or origins', remedy: 'write brand: 1' })
    found.push(...checkConsumed(path, from, defaultName(brand)))
    for (const { origin, brand: originBrand } of origins ?? []) {
      if ((brandOf.get(origin) ?? originBrand) !== originBrand)
        found.push({
          path: `${path}.origins`,
          description: `${origin} belongs to another brand already`,
          remedy: 'list each origin under one brand',
        })
      brandOf.set(origin, originBrand)
    }
    found.push(...checkBroker(`${path}.from`, from))
  }
  for (const [i, { from, channel }] of intake.entries()) {
    const path = `platform.intake[${i}]`
    found.push(...checkConsumed(path, from, defaultIntakeName(channel)), ...checkBroker(`${path}.from`, from))
  }
  return found
}

/** Returns a function that finds queues, topics and groups that were passed before. */
function consumedChecker(): (path: string, from: ConsumedFrom, name: string) => readonly Fault[] {
  const consumed = new Set<string>()
  const groups = new Set<string>()
  return (path, from, name) => {
    const found: Fault[] = []
    const source = from.is === 'amqp' ? `${from.url} ${from.queue ?? name}` : `${from.brokers} ${from.topic ?? name}`
    if (consumed.has(source))
      found.push({ path, description: 'is consumed already', remedy: 'name another queue or topic' })
    consumed.add(source)
    if (from.is !== 'kafka' || from.group === undefined) return found
    if (groups.has(from.group))
      found.push({
        path: `${path}.from.group`,
        description: 'is the group of another topic',
        remedy: 'leave group out',
      })
    groups.add(from.group)
    return found
  }
}

/** The queue or topic of a brand; several brands may share one. Undefined for REST. */
function destinationOf(to: PublishConfig['to'], brand: string): string | undefined {
  if (to.is === 'rest') return undefined
  return to.is === 'amqp'
    ? `${to.url} ${to.exchange ?? ''} ${to.routingKey ?? defaultName(brand)}`
    : `${to.brokers} ${to.topic ?? defaultName(brand)}`
}

function checkBroker(path: string, access: PublishConfig['to'] | ConsumedFrom): Fault[] {
  if (access.is === 'rest') return []
  const { ca, clientCertificate, clientKey } = access
  const hasTls = access.is === 'kafka' ? access.tls : access.url.startsWith('amqps:')
  const found: Fault[] = []
  if (!hasTls && (ca ?? clientCertificate ?? clientKey) !== undefined)
    found.push({
      path,
      description: 'has a certificate, but the connection has no TLS',
      remedy: access.is === 'kafka' ? 'set tls: true' : 'write amqps://…',
    })
  if (access.is !== 'kafka') return found
  if ((access.username === undefined) !== (access.password === undefined))
    found.push({ path, description: 'has only one of username and password', remedy: 'set both, or neither' })
  const missing = missingPackage('@platformatic/kafka')
  if (missing) found.push({ path, ...missing })
  return found
}
