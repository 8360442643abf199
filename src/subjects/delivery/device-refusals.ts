// The outcomes of a message at a device that no push service was called for (row 62), or that stays linked.

import { clock } from '../../base/runtime/clock.ts'
import { messageOf } from '../../base/runtime/message-of.ts'
import type { Content } from '../../contract/content.ts'
import type { Failed, Fatal } from '../../contract/outcome.ts'
import { refuseFailed, refuseFatal } from '../../contract/refusals.ts'
import { shortened } from '../../contract/storable.ts'
import type { Device } from '../devices/device.ts'

export function expired({ expiresAt }: Content, lifetimeMs: number): Failed {
  const named = expiresAt !== undefined && expiresAt <= clock.now()
  const end = named
    ? `it expired at ${new Date(expiresAt).toISOString()}`
    : `it is older than its lifetime of ${lifetimeMs / 3_600_000} h`
  return refuseFailed('lifetime_over', { error: `not sent: ${end}` })
}

export const serviceRemedy = 'see operator.push.devices.services'

export const noService = (device: Device): Failed =>
  refuseFailed('no_service', {
    error: `no push service reaches ${describe(device)}: add one under operator.push.devices.services`,
  })

export const serviceWithoutApp = (service: string, device: Device): Fatal =>
  refuseFatal('not_reached_by_service', {
    rule: `devices: not of ${service}`,
    error: `not sent: ${service} does not reach ${describe(device)}: add the app or environment to its settings, or another service under operator.push.devices.services`,
  })

const describe = ({ kind, app, environment }: Device): string =>
  [`a device of kind ${kind}`, app && `of the app ${app}`, environment && `(${environment})`].filter(Boolean).join(' ')

/** The removal brake is on: the device stays linked. The outcome stays failed, because the service would refuse a retry too. */
export function removalStopped({ reason, rule, error, answer }: Failed): Failed {
  return {
    category: 'failed',
    reason,
    rule: `${rule}, removals stopped`,
    error: `${error}; the device stays linked, because too many devices were reported dead recently: see GET /admin/devices/removals, then confirm with POST /admin/devices/removals/confirm`,
    ...(answer !== undefined && { answer }),
  }
}

export const sourceDown = (error: unknown): Fatal =>
  refuseFatal('devices_unknown', {
    error: `not sent: the source of devices cannot answer (${shortened(messageOf(error))})`,
  })
