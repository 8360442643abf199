// The settings of push to devices: the device source, and the push services.

import { deviceSources } from './device-source-settings.ts'
import { brand, deviceKind, duration, integer, oneOf, text } from './kinds.ts'
import { apnsSettings } from './services/apns.ts'
import { fcmSettings } from './services/fcm.ts'
import { httpSettings } from './services/http.ts'
import { webPushSettings } from './services/web-push.ts'
import { group, list, type Settings, type ValueOf, variants } from './setting.ts'
import { moduleOf } from './shared-settings.ts'

/** One entry per kind of push service; their settings are in src/config/services/. */
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
    optional: true,
    minItems: 1,
  })
  return { ...own, brands }
}

export const devices = group(
  { help: 'Sends each push message to all devices of its user.' },
  {
    source: variants(
      {
        help: 'The source of the devices of users, read before every delivery. Default: the built-in registry, filled by links from apps and services.',
        optional: true,
        remedy: 'write source: registry, {sql: "select …", database: …}, {http: https://…} or {module: ./mine.ts}',
      },
      deviceSources,
    ),
    services: list(variants({ help: 'A push service with one credential.', remedy: 'see docs/push.md' }, services), {
      help: 'Push services. The first service in the list that reaches a device sends to it. Each has its own concurrency limit, pauses and alerts.',
      minItems: 1,
      remedy: 'write services: [{provider: fcm, credentials: …}], or another service of docs/push.md',
    }),
    lifetime: duration({
      help: 'Time to live of a message, from its first attempt. A message that is older is not shown.',
      default: '24h',
    }),
    unregistered_targets: group(
      {
        help: 'The kind assumed for device tokens that a message names and that were never linked. Default: such messages are refused.',
        optional: true,
      },
      {
        kind: deviceKind({ help: 'The kind assumed for such a token.' }),
        app: text({ help: 'Its app: a bundle id or a package name.', optional: true }),
        environment: oneOf('production', 'sandbox')({ help: 'Its APNs environment.', optional: true }),
      },
    ),
    removals: group(
      {
        help: 'Dead devices are unlinked automatically. If implausibly many are reported dead, unlinking stops until someone confirms it.',
      },
      {
        devices: integer(
          0,
          1_000_000,
        )({ help: 'This many removals within the window are always allowed.', default: '100' }),
        percent: integer(
          0,
          100,
        )({
          help: "Above `devices`, removals continue only while they are at most this share of the credential's sends, in percent.",
          default: '10',
        }),
        window: duration({ help: 'The period in which removals and sends are counted.', default: '10min' }),
      },
    ),
  },
)

export type DevicesConfig = ValueOf<typeof devices>
export type PushServiceConfig = DevicesConfig['services'][number]
