import { missingPackage } from '../runtime/optional-package.ts'
import { type DeviceLinksConfig, defaultName, type PublishConfig } from './device-channels-settings.ts'

/** Something that two settings say differently. */
interface Disagreement {
  readonly path: string
  readonly what: string
  readonly remedy: string
}

/** Each brand published once, each queue of one brand or of several origins, none consumed twice. */
export function agreeChannels(
  publish: readonly PublishConfig[],
  links: readonly DeviceLinksConfig[],
): readonly Disagreement[] {
  const found: Disagreement[] = []
  const told = new Set<string>()
  const shared = new Map<string, Map<string, string>>()
  for (const [i, { brand, retry, to, origin }] of publish.entries()) {
    const path = `operator.publish[${i}]`
    if (told.has(brand))
      found.push({ path, what: `brand ${brand} is published already`, remedy: 'a brand is told to one platform' })
    told.add(brand)
    if (retry.first > retry.most)
      found.push({ path: `${path}.retry`, what: 'first is longer than most', remedy: 'first is the shortest wait' })
    found.push(...kafka(`${path}.to`, to))
    const place = placeOf(to, brand)
    const origins = place === undefined ? undefined : (shared.get(place) ?? new Map<string, string>())
    if (place === undefined || !origins) continue
    shared.set(place, origins)
    const named = origin ?? ''
    const other = origins.get(named) ?? (named === '' || origins.has('') ? [...origins.values()][0] : undefined)
    if (other !== undefined)
      found.push({
        path,
        what: `publishes to the same place as brand ${other}, with the same origin`,
        remedy: 'give each an origin of its own and name these origins at the platform, or use a topic for each brand',
      })
    origins.set(named, brand)
  }
  const consumed = new Set<string>()
  const groups = new Set<string>()
  const brandOf = new Map<string, string>()
  for (const [i, { from, brand, origins }] of links.entries()) {
    const path = `platform.device_links[${i}]`
    if ((brand === undefined) === (origins === undefined))
      found.push({ path, what: 'needs brand, or origins, and not both', remedy: 'write brand: 1' })
    const name =
      from.is === 'amqp'
        ? `${from.amqp} ${from.queue ?? defaultName(brand)}`
        : `${from.kafka} ${from.topic ?? defaultName(brand)}`
    if (consumed.has(name)) found.push({ path, what: 'is consumed already', remedy: 'name another queue or topic' })
    consumed.add(name)
    if (from.is === 'kafka' && from.group !== undefined) {
      if (groups.has(from.group))
        found.push({ path: `${path}.from.group`, what: 'is the group of another topic', remedy: 'leave it out' })
      groups.add(from.group)
    }
    for (const { origin, brand: its } of origins ?? []) {
      if ((brandOf.get(origin) ?? its) !== its)
        found.push({
          path: `${path}.origins`,
          what: `${origin} is of another brand already`,
          remedy: 'an origin is of one brand',
        })
      brandOf.set(origin, its)
    }
    found.push(...kafka(`${path}.from`, from))
  }
  return found
}

/** A queue or topic, which several brands may share. */
function placeOf(to: PublishConfig['to'], brand: string): string | undefined {
  if (to.is === 'rest') return undefined
  return to.is === 'amqp'
    ? `${to.amqp} ${to.exchange ?? ''} ${to.routing_key ?? defaultName(brand)}`
    : `${to.kafka} ${to.topic ?? defaultName(brand)}`
}

function kafka(path: string, access: PublishConfig['to'] | DeviceLinksConfig['from']): Disagreement[] {
  if (access.is !== 'kafka') return []
  const found: Disagreement[] = []
  if ((access.username === undefined) !== (access.password === undefined))
    found.push({ path, what: 'username and password go together', remedy: 'write both, or neither' })
  const missing = missingPackage('@platformatic/kafka')
  if (missing) found.push({ path, ...missing })
  return found
}
