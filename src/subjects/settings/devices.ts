// The settings of push to devices: the device source, and the push services.

import { brand, duration, integer, kind, oneOf, text } from '../../base/runtime/kinds.ts'
import { group, list, rows, type Settings, type ValueOf, variants } from '../../base/runtime/setting.ts'
import type { DeviceKind } from '../devices/device.ts'
import { deviceSources } from './device-source.ts'
import { apnsSettings } from './services/apns.ts'
import { fcmSettings } from './services/fcm.ts'
import { httpSettings } from './services/http.ts'
import { webPushSettings } from './services/web-push.ts'
import { moduleOf, someOf } from './shared.ts'

const deviceKind = kind<DeviceKind>('fcm_token, fcm_fid, apns, webpush or http:NAME', (text) =>
  /^(fcm_token|fcm_fid|apns|webpush|http:.+)$/.test(text) ? (text as DeviceKind) : undefined,
)

/** One entry per kind of push service; their settings are in src/sides/config/services/. */
const services = {
  fcm: service(fcmSettings),
  apns: service(apnsSettings),
  'web-push': service(webPushSettings),
  http: service(httpSettings),
  module: service(moduleOf('service')),
}

/** Adds the setting that every service has. */
function service<Own extends Settings>(own: Own) {
  const brands = list(brand({ help: 'A brand.' }), {
    help: 'The brands whose devices it reaches, if each brand has its own credential. Default: all.',
    section: 'Every push service',
    optional: true,
    minItems: 1,
  })
  return { ...own, brands }
}

const presentation = rows(
  'How devices present messages. A later rule replaces the fields of an earlier one; `overrides` of a message replace both.',
  {
    services: someOf(text({ help: 'A push service.' }), 'The names of push services. Default: all.'),
    apps: someOf(text({ help: 'An app.' }), 'The apps of devices: bundle ids and package names. Default: all.'),
    activities: someOf(text({ help: 'An activity_id.' }), 'The activities (activity_id) of messages. Default: all.'),
    sound: text({ help: 'A sound file of the app, or none. Default: default.', optional: true }),
    badge: integer(0, 99_999, { help: 'The number at the icon of the app.', optional: true }),
    category: text({ help: 'iOS: the category, which decides the buttons.', optional: true }),
    interruption_level: oneOf(['passive', 'active', 'time-sensitive'], {
      help: 'iOS: the interruption level.',
      optional: true,
    }),
    android_channel: text({ help: 'Android: the notification channel.', optional: true }),
    android_priority: oneOf(['normal', 'high'], {
      help: 'Android: the priority. Default: high for a message with a title or a text, otherwise normal.',
      optional: true,
    }),
    icon: text({ help: 'Android: a drawable resource. Web Push: an address.', optional: true }),
    url: text({ help: 'The address that a click opens, for a message without `url`.', optional: true }),
  },
  { section: 'Presentation on devices' },
)

export const devices = group('Push to devices', {
  source: variants(
    {
      sections: { sql: 'Device source: your database', http: 'Device source: your endpoint' },
      help: 'The source of the devices of users, read before every delivery. Default: the built-in registry.',
      optional: true,
      remedy: 'write source: registry, {sql: "select …", database: …}, {http: https://…} or {module: ./mine.ts}',
    },
    deviceSources,
  ),
  services: list(
    variants(
      {
        help: 'A push service with one credential.',
        sections: { fcm: 'FCM', apns: 'APNs', 'web-push': 'Web Push', http: 'Any other provider over HTTP' },
        remedy: 'see docs/push.md',
      },
      services,
    ),
    {
      help: 'Push services. The first one in the list that reaches a device sends to it.',
      minItems: 1,
      remedy: 'write services: [{provider: fcm, credentials: …}], or another service of docs/push.md',
    },
  ),
  presentation,
  lifetime: duration({
    help: 'Time to live of a message, from its first attempt.',
    default: '24h',
  }),
  unregistered_targets: group(
    '',
    {
      kind: deviceKind({ help: 'The kind assumed for such a token.' }),
      app: text({ help: 'Its app: a bundle id or a package name.', optional: true }),
      environment: oneOf(['production', 'sandbox'], { help: 'Its APNs environment.', optional: true }),
    },
    { optional: true },
  ),
  removals: group('', {
    devices: integer(0, 1_000_000, {
      help: 'This many removals within the window are always allowed.',
      default: '100',
    }),
    percent: integer(0, 100, {
      help: "Above `devices`, removals continue only while they are at most this share of the credential's sends, in percent.",
      default: '10',
    }),
  }),
})

export type DevicesConfig = ValueOf<typeof devices>
export type PushServiceConfig = DevicesConfig['services'][number]
