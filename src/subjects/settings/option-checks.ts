// The options of the library that both sides have, where they differ from the settings of the configuration file.

import {
  anything,
  byOption,
  component,
  custom,
  list,
  type Option,
  object,
  optional,
  orWord,
} from '../../base/runtime/check-options.ts'
import { kind, text } from '../../base/runtime/kinds.ts'
import { addressSettings } from './address.ts'
import { alerts } from './alerts.ts'
import { attributeSettings } from './attributes.ts'
import { devices } from './devices.ts'
import { deviceSourceFaults, providerFaults, serviceFaults } from './own-code.ts'

/** The settings beside an address. The files have been read. */
export const addressOptions: Readonly<Record<string, Option>> = {
  ...byOption(addressSettings),
  ca: anything,
  clientCertificate: text({ help: '', optional: true }),
  clientKey: text({ help: '', optional: true, secret: true }),
}

const { to: _to, ...limitsOfAlerts } = alerts.settings
const sender = custom('a sender, such as alertWebhook({ … })', 'send')
export const alertsOption = optional(object({ ...byOption(limitsOfAlerts), to: list(sender, { minItems: 1 }) }))

const share = kind('a number from 0 to 1', Number, {
  asOption: { fits: (value: unknown) => typeof value === 'number' && value >= 0 && value <= 1 },
})
const provider = component('a Provider, with a function send', ['send'], providerFaults)
const service = component(
  'a push service, such as fcm({ … }) or one with the functions reaches and send',
  ['reaches', 'send'],
  serviceFaults,
)
const { source: _source, services: _services, removals, ...settingsOfDevices } = devices.settings

const pushDevices = object({
  ...byOption(settingsOfDevices),
  source: orWord(
    'registry',
    component(
      "'registry', or a DeviceSource with the functions findDevices and findHolders",
      ['findDevices', 'findHolders'],
      deviceSourceFaults,
    ),
  ),
  services: list(service, {
    minItems: 1,
    remedy: 'write services: [fcm({ serviceAccount })], or another service of docs/push.md',
  }),
  removals: optional(
    object({
      devices: removals.settings.devices,
      share: share({ help: '', optional: true }),
      windowMs: anything,
    }),
  ),
  guard: anything,
})

export const pushOption = optional((push, path, { check }) =>
  typeof push === 'object' && push !== null && 'devices' in push
    ? check(object({ devices: pushDevices }), push, path)
    : check(provider, push, path),
)

export const siteOption = optional(orWord('inbox', provider))

export const functionOption = optional(custom('a function'))

const { module: _module, name: _name, ...suppressionSettings } = attributeSettings.suppression.variants.attributes

export const suppressionOption = optional(
  orWord('none', object({ ...byOption(suppressionSettings), rule: functionOption })),
)
