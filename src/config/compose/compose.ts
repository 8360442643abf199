// Converts the validated configuration to the options of createOperator and createPlatform.

import type { AppOptions } from '../../delivery/app-api.ts'
import type { PushOptions } from '../../delivery/compose.ts'
import type { OperatorOptions } from '../../operator/options.ts'
import type { LaneOptions, OwnDeliveryOptions, PlatformOptions } from '../../platform/options.ts'
import { type OperatorApiOptions, operatorApi } from '../../providers/operator-api.ts'
import type { Provider } from '../../providers/provider.ts'
import { recording } from '../../providers/recording.ts'
import type { WebPushOptions } from '../../providers/web-push/web-push.ts'
import type { ReconciliationOptions } from '../../reconcile/options.ts'
import type { app as appSettings, ContentConfig, PushProviderConfig } from '../delivery-settings.ts'
import { loadProvider } from '../module.ts'
import type { ValueOf } from '../setting.ts'
import type { OperatorConfig, PlatformConfig } from '../table.ts'
import { attributeOptions } from './attributes.ts'
import { linkChannel, publishOptions } from './device-channels.ts'
import { intakeChannel } from './intake.ts'
import { localUrl } from './local-url.ts'
import { addressOptions } from './services/address.ts'
import { composeHttpProvider } from './services/http.ts'
import { judgeOf, pushDevices } from './services/index.ts'
import { statusOptions } from './statuses.ts'
import { suppressionOptions } from './suppression.ts'

export async function operatorOptions(config: OperatorConfig): Promise<OperatorOptions> {
  const { store, keys, admin_keys: adminKeys, app, content, keep, keep_contents, limits } = config
  const push = config.push && (await pushProvider(config.push, content, 'operator.push', receiptsOf(config)))
  const site = config.site && (await siteProvider(config.site, 'operator.site'))
  return {
    store,
    keys: keys.map(keyOptions),
    ...publicUrlOf(config),
    adminKeys,
    ...(push && { push }),
    ...(config.push?.is === 'devices' && { judgeDevice: judgeOf(config.push.devices) }),
    ...(site && { site }),
    ...(await attributeOptions(config)),
    publish: await Promise.all(
      config.publish.map((each, i) => publishOptions(each, `operator.publish[${i}]`, config.app?.origins[0])),
    ),
    deviceLimits: deviceLimitsOf(config.device_limits),
    ...(app && { app: appOptions(app) }),
    ...(config.status && { status: await statusOptions(config.status) }),
    content,
    keptMs: keep,
    contentsKeptMs: keep_contents,
    limits: {
      bodyBytes: limits.body,
      bodyBytesInFlight: limits.bodies,
      bodyTimeoutMs: limits.body_timeout,
      batchMax: limits.batch,
      answerBudgetMs: limits.answer_budget,
      inProgress: limits.in_progress,
      providerConcurrency: limits.provider_concurrency,
      providerTimeoutMs: limits.provider_timeout,
    },
  }
}

function keyOptions({ rate, ...key }: OperatorConfig['keys'][number]): OperatorOptions['keys'][number] {
  if (!rate) return key
  const { per_second: perSecond, per_brand: perBrand } = rate
  return {
    ...key,
    rate: { ...(perSecond !== undefined && { perSecond }), ...(perBrand !== undefined && { perBrand }) },
  }
}

export async function platformOptions(config: PlatformConfig): Promise<PlatformOptions> {
  const { store, stores, keys, body, keep, keep_contents } = config
  const bodies = { bodyBytesInFlight: config.bodies, bodyTimeoutMs: config.body_timeout }
  const lanes = await Promise.all(config.lanes.map(laneOptions))
  const reconciliation = await Promise.all(config.reconciliation.map(reconciliationOptions))
  const deviceLinks = config.device_links.map(linkChannel)
  return {
    store,
    stores,
    keys,
    ...publicUrlOf(config),
    lanes,
    ...(config.own && { own: await ownDelivery(config.own) }),
    ...(config.own?.push?.is === 'devices' && {
      judgeDevice: judgeOf(config.own.push.devices),
    }),
    reconciliation,
    intake: config.intake.map(intakeChannel),
    deviceLinks,
    devicesPerUser: config.devices_per_user,
    readAheadBytes: config.read_ahead,
    bodyBytes: body,
    bodies,
    keptMs: keep,
    contentsKeptMs: keep_contents,
  }
}

const deviceLimitsOf = ({ app, services, app_per_minute: appPerMinute }: OperatorConfig['device_limits']) => ({
  app,
  services,
  appPerMinute,
})

/** The address that /docs shows. If the admin API has a separate address, it is still that of the interface. */
function publicUrlOf({ public_url: publicUrl, admin, host, port }: OperatorConfig | PlatformConfig): {
  publicUrl?: string
} {
  if (publicUrl !== undefined) return { publicUrl }
  return admin && port !== 0 ? { publicUrl: localUrl({ host, port }) } : {}
}

async function reconciliationOptions(
  config: PlatformConfig['reconciliation'][number],
  index: number,
): Promise<ReconciliationOptions> {
  const { brand, url, api_key: apiKey, fields, every, grace, limits } = config
  const { id, idle, total, ...size } = limits
  return {
    brand,
    url,
    apiKey,
    ...(await addressOptions(config, `platform.reconciliation[${index}]`)),
    fields,
    ...(every !== undefined && { everyMs: every }),
    graceMs: grace,
    limits: { ...size, idBytes: id, idleMs: idle, totalMs: total },
  }
}

type LaneConfig = PlatformConfig['lanes'][number]

async function laneOptions(lane: LaneConfig, index: number): Promise<LaneOptions> {
  const { brand, channel, mode, max, bytes, span, concurrency, per_second: perSecond, timeout, retry } = lane
  return {
    brand,
    channel,
    provider: await laneProvider(lane, index),
    mode,
    max,
    bytes,
    spanMs: span,
    concurrency,
    ...(perSecond !== undefined && { perSecond }),
    timeoutMs: timeout,
    failedActions: lane.failed_actions,
    expires: { at: lane.expires.at, ...(lane.expires.after !== undefined && { afterMs: lane.expires.after }) },
    transactional: lane.transactional,
    status: await laneStatus(lane, index),
    retry: {
      firstMs: retry.first,
      mostMs: retry.most,
      ...(retry.attempts !== undefined && { attempts: retry.attempts }),
    },
  }
}

async function laneStatus({ to, status }: LaneConfig, index: number): Promise<NonNullable<LaneOptions['status']>> {
  const { webhook_secrets: secrets, wait: waitMs, poll: everyMs } = status
  if (to.is !== 'operator-api' || everyMs === undefined) return { secrets, waitMs }
  return { secrets, waitMs, poll: { ...(await operatorOf(to, index)), everyMs } }
}

async function laneProvider({ to }: LaneConfig, index: number): Promise<LaneOptions['provider']> {
  if (to.is === 'own') return 'own'
  if (to.is === 'module') return loadProvider(to.module, to.name, `platform.lanes[${index}].to.module`)
  return operatorApi(await operatorOf(to, index))
}

type OperatorAddress = Extract<LaneConfig['to'], { is: 'operator-api' }>

async function operatorOf(to: OperatorAddress, index: number): Promise<OperatorApiOptions> {
  const { url, api_key: apiKey } = to
  return { url, apiKey, ...(await addressOptions(to, `platform.lanes[${index}].to`)) }
}

const appOptions = ({ streams_per_user: streamsPerUser, ...app }: ValueOf<typeof appSettings>): AppOptions => ({
  ...app,
  streamsPerUser,
})

async function ownDelivery({
  push,
  site,
  suppression,
  app,
  status,
  content,
  limits,
}: NonNullable<PlatformConfig['own']>): Promise<OwnDeliveryOptions> {
  const receipts = receiptsOf({ status, app })
  return {
    ...(push && { push: await pushProvider(push, content, 'platform.own.push', receipts) }),
    ...(site && { site: await siteProvider(site, 'platform.own.site') }),
    ...(suppression?.is === 'none' && { suppression: 'none' as const }),
    ...(suppression?.is === 'crm' && {
      suppression: {
        ...(await suppressionOptions(suppression, 'platform.own.suppression')),
        maxStalenessMs: suppression.max_staleness,
      },
    }),
    ...(app && { app: appOptions(app) }),
    receiptsFrom: status.receipts_from,
    content,
    limits: { providerConcurrency: limits.provider_concurrency, providerTimeoutMs: limits.provider_timeout },
  }
}

/** Receipts of service workers. They need a secret of subscriber tokens: see check-consistency.ts. */
function receiptsOf({
  status,
  app,
}: {
  readonly status?: { readonly receipts?: string | undefined } | undefined
  readonly app?: { readonly secrets: readonly string[] } | undefined
}): WebPushOptions['receipts'] {
  const secret = app?.secrets[0]
  if (status?.receipts === undefined || secret === undefined) return undefined
  return { url: `${status.receipts.replace(/\/+$/, '')}/app/receipts`, secret }
}

async function pushProvider(
  push: PushProviderConfig,
  content: ContentConfig,
  at: string,
  receipts?: WebPushOptions['receipts'],
): Promise<PushOptions> {
  if (push.is === 'devices') return { devices: await pushDevices(push.devices, `${at}.devices`, receipts) }
  if (push.is === 'http') return composeHttpProvider(push, content, at)
  if (push.is === 'module') return loadProvider(push.module, push.name, `${at}.module`)
  return recording(push.file === undefined ? {} : { file: push.file })
}

async function siteProvider(site: NonNullable<OperatorConfig['site']>, at: string): Promise<Provider | 'inbox'> {
  return site.is === 'inbox' ? 'inbox' : loadProvider(site.module, site.name, `${at}.module`)
}
