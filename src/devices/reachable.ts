// The devices that can get a message with this configuration. Pure.

import type { Device, DeviceKind } from './device.ts'
import type { Publishing } from './outbox.ts'
import { providerOf } from './published-record.ts'

const builtIn: readonly DeviceKind[] = ['fcm_token', 'fcm_fid', 'apns', 'webpush']

/**
 * Whether a configured push service reaches the device, or the device is published to the platform. Without any of them, the kinds that come along
 * are registered for later.
 *
 * @example reachable([fcm], [])({ kind: 'http:unheard-of', … }) // false
 */
export function reachable(
  services: readonly { reaches(device: Device): boolean }[],
  publishing: readonly Pick<Publishing, 'brand' | 'providers'>[],
): (device: Device) => boolean {
  const nowhere = services.length === 0 && publishing.length === 0
  return (device) => {
    if (services.some((service) => service.reaches(device))) return true
    const { kind } = device
    if (nowhere) return builtIn.includes(kind)
    const told = publishing.find(({ brand }) => brand === device.brand)
    if (!told) return false
    const { providers = ['firebase'] } = told
    return providers === 'all' ? builtIn.includes(kind) : providers.includes(providerOf(kind).provider)
  }
}

/** The kinds of devices in metrics: the built-in kinds, and one for each push service by its name. */
export const knownKinds = (services: readonly { readonly name: string }[]): readonly DeviceKind[] => [
  ...builtIn,
  ...services.map(({ name }) => `http:${name}` as const),
]
