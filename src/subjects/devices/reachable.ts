// Decides by the configuration which devices can receive messages. Pure functions.

import type { Device, DeviceKind } from './device.ts'
import type { Publishing } from './outbox.ts'
import { providerOf } from './published-record.ts'

const builtIn: readonly DeviceKind[] = ['fcm_token', 'fcm_fid', 'apns', 'webpush']

/**
 * Returns the check whether a push service here or a publication to the platform reaches a device. If neither is configured,
 * devices of the built-in kinds are accepted for later use.
 *
 * @example reachable([fcm], [])({ kind: 'http:unheard-of', … }) // false
 */
export function reachable(
  services: readonly { reaches(device: Device): boolean }[],
  publishing: readonly Pick<Publishing, 'brand' | 'providers'>[],
): (device: Device) => boolean {
  const unconfigured = services.length === 0 && publishing.length === 0
  return (device) => {
    if (services.some((service) => service.reaches(device))) return true
    const { kind } = device
    if (unconfigured) return builtIn.includes(kind)
    const target = publishing.find(({ brand }) => brand === device.brand)
    if (!target) return false
    const { providers = ['firebase'] } = target
    return providers === 'all' ? builtIn.includes(kind) : providers.includes(providerOf(kind).provider)
  }
}

/**
 * The check for links by the operator's services: refuses a provider of a name that nobody configured. A service for a built-in kind,
 * an app or an environment may be configured later.
 */
export function isProviderKnown(...[services, publishing]: Parameters<typeof reachable>): (device: Device) => boolean {
  const reaches = reachable(services, publishing)
  const unconfigured = services.length === 0 && publishing.length === 0
  return (device) => {
    const { app: _app, environment: _environment, ...rest } = device
    return unconfigured || builtIn.includes(device.kind) || reaches(device) || reaches(rest)
  }
}

/** The values of the metric label `kind`: the built-in kinds, and one for each push service. */
export const knownKinds = (services: readonly { readonly name: string }[]): readonly DeviceKind[] => [
  ...builtIn,
  ...services.map(({ name }) => `http:${name}` as const),
]
