// The outcomes of a message at a device that no push service was called for, or that stays linked.

import type { Failed, Fatal } from '../contract/outcome.ts'
import { shortened } from '../contract/storable.ts'
import type { Device } from '../devices/device.ts'

export const failed = (reason: Failed['reason'], rule: string, error: string): Failed => ({
  category: 'failed',
  reason,
  rule: `devices: ${rule}`,
  error,
})

export const expired = (lifetimeMs: number): Failed =>
  failed('expired', 'lifetime over', `not sent: the message is older than its lifetime of ${lifetimeMs / 3_600_000} h`)
export const noDevice = failed(
  'no_device',
  'none',
  'the user has no device: no device is linked to this user of this brand',
)
export const unlinkedInTransit = failed(
  'no_device',
  'unlinked',
  'not sent: the device was unlinked while the message waited to be sent',
)

export const serviceRemedy = 'see operator.push.devices.services'

export function noService(device: Device): Failed {
  const error = `no push service reaches ${describe(device)}: add one under operator.push.devices.services`
  return failed('no_device', 'no service', error)
}

export function serviceWithoutApp(service: string, device: Device): Fatal {
  return {
    category: 'fatal',
    reason: 'misconfigured',
    blame: 'message',
    retryAfterMs: 60_000,
    rule: `devices: not of ${service}`,
    error: `not sent: ${service} does not reach ${describe(device)}: add the app or environment to its settings, or another service under operator.push.devices.services`,
  }
}

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

export function sourceDown(error: unknown): Fatal {
  return {
    category: 'fatal',
    reason: 'source_down',
    blame: 'provider',
    rule: 'devices: no answer',
    error: `not sent: the source of devices cannot answer (${messageOf(error)})`,
  }
}

const messageOf = (error: unknown): string => shortened(error instanceof Error ? error.message : String(error))
