import { integer, path, text, url } from '../kinds.ts'
import { type Group, list, type ValueOf } from '../setting.ts'

/** The settings of one FCM credential: a variant of operator.push.devices.services. */
export const fcmSettings = {
  name: text({ says: "The credential's name, in logs and alerts.", default: 'fcm' }),
  credentials: path({
    says: 'The JSON file of the service account, from the Firebase console.',
    optional: true,
    secretFile: true,
  }),
  credentials_json: text({ says: 'Its text, instead of a file.', optional: true, secret: true }),
  apps: list(text({ says: 'A package name.' }), {
    says: 'The apps whose devices it reaches; left out: all.',
    optional: true,
    least: 1,
  }),
  base_url: url({ says: 'The address of FCM.', default: 'https://fcm.googleapis.com' }),
  ca: path({ says: 'Certificates (PEM) to trust instead of the system’s.', optional: true }),
  concurrency: integer(1, 10_000)({ says: 'Most sends at a time.', default: '1000' }),
  connections: integer(1, 100)({ says: 'Most connections; each carries about 100 sends at a time.', default: '10' }),
} as const

export type FcmConfig = ValueOf<Group<typeof fcmSettings>>
