import { integer, oneOf, path, text, url } from '../kinds.ts'
import { type Group, list, type ValueOf } from '../setting.ts'

/** The settings of one APNs key: a variant of operator.push.devices.services. */
export const apnsSettings = {
  name: text({ says: "The credential's name, in logs and alerts.", default: 'apns' }),
  key: path({ says: 'The .p8 file of the signing key, from Apple.', optional: true, secretFile: true }),
  key_text: text({ says: 'Its text, instead of a file.', optional: true, secret: true }),
  key_id: text({ says: "The key's id, 10 characters; it is in the file's name." }),
  team_id: text({ says: "The team's id, 10 characters." }),
  topic: text({ says: 'The bundle id of the app; for devices that do not say theirs.' }),
  apps: list(text({ says: 'A bundle id.' }), {
    says: 'Further apps of the team; devices of others are not reached.',
    optional: true,
    least: 1,
  }),
  environments: list(oneOf('production', 'sandbox')({ says: 'An environment.' }), {
    says: "Which of Apple's worlds are used; left out: both.",
    optional: true,
    least: 1,
    remedy: 'write environments: [production], or leave it out for both',
  }),
  base_url: url({ says: 'The address of APNs.', default: 'https://api.push.apple.com' }),
  sandbox_url: url({ says: 'The address of its sandbox.', default: 'https://api.sandbox.push.apple.com' }),
  ca: path({ says: 'Certificates (PEM) to trust instead of the system’s.', optional: true }),
  concurrency: integer(1, 10_000)({ says: 'Most sends at a time.', default: '1000' }),
  connections: integer(1, 100)({ says: 'Most connections to each environment.', default: '2' }),
} as const

export type ApnsConfig = ValueOf<Group<typeof apnsSettings>>
