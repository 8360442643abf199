import { baseUrl, oneOf, path, text } from '../../../base/runtime/kinds.ts'
import { type Group, list, type ValueOf } from '../../../base/runtime/setting.ts'
import { connectionSettings } from '../address.ts'
import { sendLimits, someOf, testing } from '../shared.ts'

/** The settings of an APNs push service, with one key: a variant of operator.push.devices.services. */
export const apnsSettings = {
  name: text({ help: 'The name of the push service, in logs and alerts.', default: 'apns' }),
  key: path({ help: "The .p8 file of Apple's signing key.", optional: true, secretFile: true, readWithConfig: true }),
  key_text: text({ help: 'The contents of that file, instead of its path.', optional: true, secret: true }),
  key_id: text({ help: 'The id of the key, 10 characters, as in the name of the file.' }),
  team_id: text({ help: 'The id of the team, 10 characters.' }),
  topic: text({ help: 'The bundle id of the app, for devices without one.' }),
  apps: someOf(text({ help: 'A bundle id.' }), 'Further apps of the team. Devices of other apps are not reached.'),
  environments: list(oneOf(['production', 'sandbox'], { help: 'An environment.' }), {
    help: 'APNs environments. Default: both.',
    optional: true,
    minItems: 1,
    remedy: 'write environments: [production], or leave environments out for both',
  }),
  testing: testing({
    base_url: baseUrl({ help: 'The address of APNs.', default: 'https://api.push.apple.com' }),
    sandbox_url: baseUrl({ help: 'The address of the APNs sandbox.', default: 'https://api.sandbox.push.apple.com' }),
  }),
  ca: connectionSettings.ca,
  ...sendLimits('1000'),
  proxy: connectionSettings.proxy,
} as const

export type ApnsConfig = ValueOf<Group<typeof apnsSettings>>
