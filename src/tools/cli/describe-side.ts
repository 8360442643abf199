// The description of a side's configuration in its first log line.

import { maskAddress } from '../../base/runtime/address.ts'
import type { Events } from '../../base/runtime/events.ts'
import type { OperatorConfig, PlatformConfig } from '../../sides/config/table.ts'

type Description = Events['server.starting']

export function describeOperator({ store, keys, push, site, publish }: OperatorConfig): Description {
  const channels = [push && 'push', site && 'site'].filter((channel) => channel !== undefined)
  const services =
    push?.is === 'devices'
      ? push.devices.services.map(({ is, ...own }) => (is !== 'module' && own.name) || is)
      : push && [push.is]
  return {
    side: 'operator',
    store: maskAddress(store),
    brands: joinUnique(keys.flatMap(({ brands }) => brands)),
    channels: joinUnique(channels),
    push_services: joinUnique(services ?? []),
    lanes: publish.length,
  }
}

export function describePlatform({ store, stores, lanes, deviceLinks: links, intake }: PlatformConfig): Description {
  return {
    side: 'platform',
    store: [store, ...stores.map(({ url }) => url)].map(maskAddress).join(', '),
    brands: joinUnique(lanes.map(({ brand }) => brand)),
    channels: joinUnique(lanes.map(({ channel }) => channel)),
    lanes: lanes.length,
    device_links: links.length,
    intake: intake.length,
  }
}

const joinUnique = (names: readonly string[]): string => [...new Set(names)].join(', ') || 'none'
