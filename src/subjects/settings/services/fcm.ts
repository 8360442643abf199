import { baseUrl, path, text } from '../../../base/runtime/kinds.ts'
import type { Group, ValueOf } from '../../../base/runtime/setting.ts'
import { connectionSettings } from '../address.ts'
import { sendLimits, someOf, testing } from '../shared.ts'

/** The settings of an FCM push service, with one credential: a variant of operator.push.devices.services. */
export const fcmSettings = {
  name: text({ help: 'The name of the push service, in logs and alerts.', default: 'fcm' }),
  credentials: path({
    help: 'The JSON file of the service account, from the Firebase console.',
    optional: true,
    secretFile: true,
    readWithConfig: true,
  }),
  credentials_json: text({ help: 'The contents of that file, instead of its path.', optional: true, secret: true }),
  apps: someOf(text({ help: 'A package name.' }), 'The apps whose devices it reaches. Default: all.'),
  testing: testing({ base_url: baseUrl({ help: 'The address of FCM.', default: 'https://fcm.googleapis.com' }) }),
  ca: connectionSettings.ca,
  ...sendLimits('1000'),
  proxy: connectionSettings.proxy,
} as const

export type FcmConfig = ValueOf<Group<typeof fcmSettings>>
