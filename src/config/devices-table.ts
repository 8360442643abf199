// The settings of push to devices: where devices are found, and the services that reach them.

import { deviceSources } from './device-source-settings.ts'
import { brand, deviceKind, duration, integer, oneOf, text } from './kinds.ts'
import { apnsSettings } from './services/apns.ts'
import { fcmSettings } from './services/fcm.ts'
import { httpSettings } from './services/http.ts'
import { webPushSettings } from './services/web-push.ts'
import { group, list, type Settings, type ValueOf, variants } from './setting.ts'
import { moduleOf } from './shared-settings.ts'

/** A line for each kind of push service: its settings stand in src/config/services/. */
const services = {
  fcm: service(fcmSettings),
  apns: service(apnsSettings),
  'web-push': service(webPushSettings),
  http: service(httpSettings),
  module: service(moduleOf('a PushService', 'service')),
}

/** What every service has beside its own settings. */
function service<Own extends Settings>(own: Own) {
  const brands = list(brand({ says: 'A brand.' }), {
    says: 'Only devices of these brands, where each has a credential of its own; left out: of all.',
    optional: true,
    least: 1,
  })
  return { ...own, brands }
}

export const devices = group(
  { says: 'Push messages go to the devices of their users.' },
  {
    source: variants(
      {
        says: 'Which devices a user has; asked before every delivery. Left out: our own registry, which apps and services feed.',
        optional: true,
        remedy: 'write source: registry, {sql: "select …", database: …}, {http: https://…} or {module: ./mine.ts}',
      },
      deviceSources,
    ),
    services: list(
      variants({ says: 'What reaches devices of a kind, with one credential.', remedy: 'see docs/push.md' }, services),
      {
        says: 'Push services. A device goes to the first in the list that reaches it; each has slots, pauses and alerts of its own.',
        least: 1,
        remedy: 'write services: [{provider: fcm, credentials: …}], or another: docs/push.md shows them',
      },
    ),
    lifetime: duration({
      says: 'A message that could not be shown so long after its first attempt is not shown any more.',
      default: '24h',
    }),
    unregistered_targets: group(
      {
        says: 'Device tokens that a message names and that were never linked: taken for devices of this kind. Left out: they are refused.',
        optional: true,
      },
      {
        kind: deviceKind({ says: 'Their kind.' }),
        app: text({ says: 'Their app: a bundle id, a package name.', optional: true }),
        environment: oneOf('production', 'sandbox')({ says: 'APNs: the world that they are from.', optional: true }),
      },
    ),
    removals: group(
      {
        says: 'Devices that a provider proves dead are removed; more than one believes, and removing stops until a person confirms.',
      },
      {
        devices: integer(0, 1_000_000)({ says: 'So many may always be removed within the window.', default: '100' }),
        percent: integer(
          0,
          100,
        )({ says: "More than that, while they are at most so much of the credential's sends.", default: '10' }),
        window: duration({ says: 'The window.', default: '10min' }),
      },
    ),
  },
)

export type DevicesConfig = ValueOf<typeof devices>
export type PushServiceConfig = DevicesConfig['services'][number]
