// The checks of createPlatform's options before start(), by the settings of the configuration file.

import {
  anything,
  byOption,
  checkOptions,
  component,
  custom,
  list,
  type Option,
  type OptionsOf,
  object,
  optional,
  required,
} from '../../base/runtime/check-options.ts'
import type { Fault } from '../../base/runtime/problem.ts'
import { storeProblems } from '../../subjects/brands/store-problems.ts'
import { brandFaults, keyFaults, laneFaults, pushFaults } from '../../subjects/settings/contradictions.ts'
import {
  addressOptions,
  alertsOption,
  functionOption,
  pushOption,
  siteOption,
  suppressionOption,
} from '../../subjects/settings/option-checks.ts'
import { providerFaults } from '../../subjects/settings/own-code.ts'
import { platform } from '../../subjects/settings/platform.ts'
import type { LaneOptions, OwnDeliveryOptions, PlatformOptions } from './options.ts'

const { settings } = platform
const { to, profile: _profile, status, mode, ...lane } = settings.lanes.of.settings
const { poll: everyMs, ...statusSettings } = status.settings
const { url, api_key: apiKey } = to.variants['operator-api']
const { receipts_from: receiptsFrom } = settings.own.settings.status.settings
const { app, content, limits } = settings.own.settings
const { channel, brands } = settings.intake.of.settings
const { brand } = lane
const { limits: listLimits, ...reconciliation } = settings.reconciliation.of.settings

const consumer = custom('a consumer, such as amqpConsumer({ … })', 'consume')

const brandOrOrigins: Option = (value, path, { check, wrong }) => {
  if (typeof value !== 'object' || value === null) return check(brand, value, path)
  for (const [origin, each] of Object.entries(value)) check(brand, each, `${path}.${origin}`)
  if (Object.keys(value).length === 0) wrong({ path, description: 'missing; expected a brand for each origin' })
}

const laneProvider = component("operatorApi({ url, apiKey }), a custom Provider, or 'own'", ['send'], providerFaults)

const laneOptions: OptionsOf<LaneOptions> = {
  ...(byOption(lane) as OptionsOf<Omit<LaneOptions, 'provider' | 'mode' | 'status'>>),
  mode: required(mode),
  provider: (value, path, checks) => {
    if (value === 'own' || typeof value === 'function') return
    laneProvider(value, path, checks)
  },
  status: optional(
    object({ ...byOption(statusSettings), poll: optional(object({ ...addressOptions, url, apiKey, everyMs })) }),
  ),
}

const own: OptionsOf<OwnDeliveryOptions> = {
  push: pushOption,
  site: siteOption,
  suppression: suppressionOption,
  receiptsFrom,
  app,
  content,
  limits,
}

const known: OptionsOf<PlatformOptions> = {
  store: required(settings.store),
  stores: settings.stores,
  keys: settings.keys,
  publicUrl: settings.public_url,
  lanes: list(object(laneOptions)),
  own: optional(object(own)),
  intake: optional(list(object({ consumer, channel, brands }))),
  deviceLinks: optional(list(object({ consumer, brands: brandOrOrigins }))),
  judgeDevice: functionOption,
  devicesPerUser: settings.devices_per_user,
  reconciliation: optional(
    list(
      object({
        ...byOption(reconciliation),
        ...addressOptions,
        // The others are not settings: no installation sets them.
        limits: optional(
          object({
            ...byOption(listLimits.settings),
            slack: anything,
            idBytes: anything,
            idleMs: anything,
            totalMs: anything,
          }),
        ),
      }),
    ),
  ),
  keptMs: settings.keep,
  contentsKeptMs: settings.keep_contents,
  auditKeptMs: settings.keep_audit,
  alerts: alertsOption,
  console: settings.console,
  storedLanes: optional(custom('a StoredLaneReader, with a function read', 'read')),
  configuration: optional(custom('a Configuration, with a function reload', 'reload')),
  bodyBytes: settings.body,
  bodyBytesInFlight: settings.bodies,
  testing: optional(object({ bodyTimeoutMs: anything, statusWaitMs: anything })),
}

/** @throws ConfigError with all problems at once, each with the path of its option */
export function checkPlatformOptions(options: PlatformOptions): void {
  checkOptions('createPlatform', options, known, contradictions)
}

function contradictions(options: PlatformOptions): readonly Fault[] {
  const { keys, lanes, reconciliation = [] } = options
  const polled = lanes.map(({ status }, i) => ({ path: `lanes[${i}].status.poll.apiKey`, address: status?.poll }))
  const compared = reconciliation.map((address, i) => ({ path: `reconciliation[${i}].apiKey`, address }))
  const withoutKey = [...polled, ...compared].filter(({ address }) => address && !address.apiKey && !address.auth)
  const brandsOfLanes = lanes.map(({ brand }) => brand)
  const found: Fault[] = [
    ...storeProblems(options),
    ...pushFaults('own.push', options.own?.push),
    ...keyFaults('keys', keys),
    ...laneFaults({ keys, lanes }, ''),
    ...(options.intake ?? []).flatMap(({ brands = [] }, i) =>
      brandFaults(`intake[${i}].brands`, brands, brandsOfLanes, 'the brands of lanes'),
    ),
    ...withoutKey.map(({ path }) => ({
      path,
      description: 'missing; expected the API key that the operator issued, or auth',
    })),
  ]
  for (const [i, { provider, channel }] of lanes.entries())
    if (provider === 'own' && options.own?.[channel] === undefined)
      found.push({
        path: `lanes[${i}].provider`,
        description: `the platform has no provider of its own for ${channel} messages`,
        remedy: `add own.${channel}, or use operatorApi({ url, apiKey })`,
      })
  return found
}
