// What a message is answered that reached no push service.

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
  failed('expired', 'lifetime over', `not sent: its lifetime of ${lifetimeMs / 3_600_000} h is over`)
export const noDevice = failed(
  'no_device',
  'none',
  'the user has no device: none is linked to this user of this brand now',
)
export const revoked = failed(
  'no_device',
  'unlinked',
  'not sent: the device was unlinked while the message was on its way',
)

export const serviceRemedy = 'see operator.push.devices.services'

export function notReached(device: Device): Failed {
  const error = `no push service reaches a device ${which(device)}: add one under operator.push.devices.services`
  return failed('no_device', 'no service', error)
}

export function almostReached(service: string, device: Device): Fatal {
  return {
    category: 'fatal',
    reason: 'misconfigured',
    blame: 'message',
    retryAfterMs: 60_000,
    rule: `devices: not of ${service}`,
    error: `not sent: ${service} does not reach a device ${which(device)}: add the app or environment to its settings, or a service for it under operator.push.devices.services`,
  }
}

const which = ({ kind, app, environment }: Device): string =>
  [kind, app && `of ${app}`, environment && `(${environment})`].filter(Boolean).join(' ')

/** The removal brake is on: the device stays linked. The outcome does not change, since a repetition would be refused as well. */
export function stillLinked({ reason, rule, error, answer }: Failed): Failed {
  return {
    category: 'failed',
    reason,
    rule: `${rule}, removals stopped`,
    error: `${error}; the device stays linked, since too many were reported dead lately: look at GET /admin/devices/removals, then confirm with POST /admin/devices/removals/confirm`,
    ...(answer !== undefined && { answer }),
  }
}

export function sourceDown(error: unknown): Fatal {
  return {
    category: 'fatal',
    reason: 'source_down',
    blame: 'provider',
    rule: 'devices: no answer',
    error: `not sent: the source of devices cannot answer (${wordsOf(error)})`,
  }
}

const wordsOf = (error: unknown): string => shortened(error instanceof Error ? error.message : String(error))
