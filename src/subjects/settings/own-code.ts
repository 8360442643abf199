// The members of components that users write themselves: of a module of the configuration file, or of an option of the library.

import type { AttributeSource } from '../attributes/attribute-source.ts'
import type { DeviceSource } from '../devices/device-source.ts'
import type { Provider } from '../providers/provider.ts'
import type { PushService } from '../providers/push-service.ts'

/** A missing or invalid member, and the expected one. */
export type MemberFault = readonly [member: string, expected: string]
type Found = readonly (MemberFault | false)[]

const isCount = (value: unknown): boolean =>
  value === Number.POSITIVE_INFINITY || (Number.isInteger(value) && (value as number) >= 1)
const isNamed = ({ name }: { readonly name: unknown }): boolean => typeof name === 'string'
const nameFault: MemberFault = ['name', 'expected a text']

export const providerFaults = (provider: Provider): Found => [
  !isNamed(provider) && nameFault,
  !isCount(provider.max) && ['max', 'expected a whole number of messages, at least 1'],
  typeof provider.send !== 'function' && [
    'send',
    'expected a function (messages, context) that returns one result per message',
  ],
]

export const sourceFaults = (source: AttributeSource): Found => [
  !isNamed(source) && nameFault,
  !Array.isArray(source.fields) && ['fields', "expected a list such as ['blocked', 'excluded']"],
  source.all !== undefined &&
    typeof source.all !== 'function' && ['all', 'expected a function (brand, field, {signal}), or nothing'],
  typeof source.among !== 'function' && ['among', 'expected a function (brand, userIds, fields, context)'],
]

export const serviceFaults = (service: PushService): Found => [
  !isNamed(service) && ['name', 'expected a text, unique among the push services'],
  typeof service.reaches !== 'function' && [
    'reaches',
    'expected a function (device) that returns whether the service can reach the device',
  ],
  !isCount(service.concurrency) && ['concurrency', 'expected a whole number of concurrent sends, at least 1'],
  service.perSecond !== undefined &&
    !(service.perSecond > 0) && ['perSecond', 'expected the most sends in a second, above 0, or nothing'],
  typeof service.send !== 'function' && [
    'send',
    'expected a function (push, context) that returns the result for one device',
  ],
]

export const deviceSourceFaults = (source: DeviceSource): Found => [
  !isNamed(source) && nameFault,
  typeof source.findDevices !== 'function' && [
    'findDevices',
    'expected a function (brand, userIds, context) that returns a Map of devices',
  ],
  typeof source.findHolders !== 'function' && [
    'findHolders',
    'expected a function (brand, tokens, context) that returns a Map',
  ],
]
