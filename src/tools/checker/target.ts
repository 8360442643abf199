// The parts of an operator that a check is applied to: an endpoint, a channel, a field, or the operator as a whole.

import { type Channel, channels, type Mode, reconciliation, sendPaths } from '../../contract/endpoints.ts'
import { type ReconciliationField, reconciliationFields } from '../../contract/records.ts'

/** An endpoint of §4.1, as a person names it. */
export type Feature = `${Channel}.${Mode}` | 'reconciliation'

export const features: readonly Feature[] = ['push.single', 'push.batch', 'site.single', 'site.batch', 'reconciliation']

export const pathOf = (feature: Feature): string => {
  if (feature === 'reconciliation') return reconciliation.path
  const [channel, mode] = feature.split('.') as [Channel, Mode]
  return sendPaths[channel][mode]
}

/**
 * The targets of a scenario. endpoint: each of the five endpoints; send: each send endpoint; single, batch: each endpoint of this
 * mode; once: the first single endpoint that is offered; first: the first send endpoint that is offered; modes: each channel with both modes; channels: both channels at once;
 * field: each field of reconciliation.
 */
export type Scope =
  | 'endpoint'
  | 'send'
  | 'single'
  | 'batch'
  | 'once'
  | 'first'
  | 'modes'
  | 'channels'
  | 'reconciliation'
  | 'field'

export interface Target {
  /** 'push single', 'on-site', 'blocked'. Unique within a scope. */
  readonly name: string
  /** The endpoints that the operator must offer. */
  readonly uses: readonly Feature[]
  readonly channel: Channel
  readonly mode: Mode
  readonly feature: Feature
  readonly field: ReconciliationField
}

const shown: Readonly<Record<Channel, string>> = { push: 'push', site: 'on-site' }

/** All targets of a scope, whether or not the operator offers them. */
export function targetsOf(scope: Scope): readonly Target[] {
  switch (scope) {
    case 'endpoint':
      return [...targetsOf('send'), ...targetsOf('reconciliation')]
    case 'send':
    case 'first':
      return channels.flatMap((channel) => [endpointTarget(channel, 'single'), endpointTarget(channel, 'batch')])
    case 'single':
    case 'batch':
      return channels.map((channel) => endpointTarget(channel, scope))
    case 'once':
      return targetsOf('single')
    case 'modes':
      return channels.map((channel) => ({
        ...endpointTarget(channel, 'single'),
        name: shown[channel],
        uses: [`${channel}.single`, `${channel}.batch`],
      }))
    case 'channels':
      return [{ ...endpointTarget('push', 'single'), name: 'both channels', uses: ['push.single', 'site.single'] }]
    case 'reconciliation':
      return [reconciliationTarget('reconciliation', 'blocked')]
    case 'field':
      return reconciliationFields.map((field) => reconciliationTarget(field, field))
    default:
      return scope satisfies never
  }
}

function endpointTarget(channel: Channel, mode: Mode): Target {
  const feature: Feature = `${channel}.${mode}`
  return { name: `${shown[channel]} ${mode}`, uses: [feature], channel, mode, feature, field: 'blocked' }
}

function reconciliationTarget(name: string, field: ReconciliationField): Target {
  return { name, uses: ['reconciliation'], channel: 'push', mode: 'single', feature: 'reconciliation', field }
}
