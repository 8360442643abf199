// Converts the validated configuration to the options of createOperator and createPlatform.

import { isDeepStrictEqual } from 'node:util'
import type { PushOptions } from '../../../subjects/delivery/compose.ts'
import { type OperatorApiOptions, operatorApi } from '../../../subjects/providers/operator-api.ts'
import type { Provider } from '../../../subjects/providers/provider.ts'
import { recording } from '../../../subjects/providers/recording.ts'
import type { WebPushOptions } from '../../../subjects/providers/web-push/web-push.ts'
import type { ReconciliationOptions } from '../../../subjects/reconcile/options.ts'
import type { ContentConfig, PushProviderConfig } from '../../../subjects/settings/delivery.ts'
import type { OperatorOptions } from '../../operator/options.ts'
import type { LaneOptions, OwnDeliveryOptions, PlatformOptions } from '../../platform/options.ts'
import { loadProvider } from '../module.ts'
import type { OperatorConfig, PlatformConfig } from '../table.ts'
import { alertSenders } from './alerts.ts'
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
  const { push, site, attributes, suppression, publish, status, content, alerts, ...options } = withoutServer(config)
  return {
    ...options,
    ...publicUrlOf(config),
    content,
    ...(push && { push: await pushProvider(push, content, 'operator.push', receiptsOf(config)) }),
    ...(push?.is === 'devices' && { judgeDevice: judgeOf(push.devices) }),
    ...(site && { site: await siteProvider(site, 'operator.site') }),
    ...(await attributeOptions(config)),
    publish: await Promise.all(
      publish.map((each, i) => publishOptions(each, `operator.publish[${i}]`, config.app?.origins[0])),
    ),
    ...(status && { status: await statusOptions(status) }),
    ...(alerts && { alerts: { ...alerts, to: await alertSenders(alerts, 'operator') } }),
  }
}

export async function platformOptions(config: PlatformConfig): Promise<PlatformOptions> {
  const { own, lanes, reconciliation, intake, deviceLinks, alerts, ...options } = withoutServer(config)
  return {
    ...options,
    ...publicUrlOf(config),
    lanes: await Promise.all(lanes.map(laneOptions)),
    ...(own && { own: await ownDelivery(own) }),
    ...(own?.push?.is === 'devices' && { judgeDevice: judgeOf(own.push.devices) }),
    reconciliation: await Promise.all(reconciliation.map(reconciliationOptions)),
    intake: await Promise.all(intake.map(intakeChannel)),
    deviceLinks: await Promise.all(deviceLinks.map(linkChannel)),
    ...(alerts && { alerts: { ...alerts, to: await alertSenders(alerts, 'platform') } }),
  }
}

/** Without the settings of the server, which the library leaves to its user. */
function withoutServer<C extends OperatorConfig | PlatformConfig>(config: C) {
  const { host, port, tls, admin, connections, connectionsPerAddress, trustedProxies, stopWithinMs, ...options } =
    config
  return options
}

/** The address that /docs shows. If the admin API has a separate address, it is still that of the interface. */
function publicUrlOf({ publicUrl, admin, host, port, tls }: OperatorConfig | PlatformConfig): { publicUrl?: string } {
  if (publicUrl !== undefined) return { publicUrl }
  return admin && port !== 0 ? { publicUrl: localUrl({ host, port, tls }) } : {}
}

async function reconciliationOptions(
  config: PlatformConfig['reconciliation'][number],
  index: number,
): Promise<ReconciliationOptions> {
  const { auth, ...options } = config
  return { ...options, ...(await addressOptions(config, `platform.reconciliation[${index}]`)) }
}

type LaneConfig = PlatformConfig['lanes'][number]

/** The lanes from this index. */
export const laneOptionsFrom = ({ lanes }: PlatformConfig, index: number): Promise<LaneOptions[]> =>
  Promise.all(lanes.slice(index).map((lane, i) => laneOptions(lane, index + i)))

/** The options of providers that are functions: equal options make another function each time. */
const operators = new WeakMap<LaneOptions, OperatorApiOptions>()

async function laneOptions(lane: LaneConfig, index: number): Promise<LaneOptions> {
  const { to, status, profile, ...options } = lane
  const { pollMs: everyMs, ...received } = status
  const { provider, operator } = await destinationOf(to, index)
  const poll = operator && everyMs !== undefined ? { poll: { ...operator, everyMs } } : {}
  const composed = { ...options, provider, status: { ...received, ...poll } }
  if (operator) operators.set(composed, operator)
  return composed
}

async function destinationOf(
  to: LaneConfig['to'],
  index: number,
): Promise<{ readonly provider: LaneOptions['provider']; readonly operator?: OperatorApiOptions }> {
  if (to.is === 'own') return { provider: 'own' }
  if (to.is === 'module')
    return { provider: await loadProvider(to.module, to.name, `platform.lanes[${index}].to.module`) }
  const { url, apiKey } = to
  const operator = { url, apiKey, ...(await addressOptions(to, `platform.lanes[${index}].to`)) }
  return { provider: operatorApi(operator), operator }
}

/** Takes a running lane in place of one with equal settings and files, so that the platform does not replace it. */
export function keepUnchanged(lanes: readonly LaneOptions[], running: readonly LaneOptions[]): readonly LaneOptions[] {
  const nameOf = ({ brand, channel }: LaneOptions): string => `${brand}/${channel}`
  const known = new Map(running.map((lane) => [nameOf(lane), lane]))
  return lanes.map((lane) => {
    const former = known.get(nameOf(lane))
    return former && isDeepStrictEqual(comparable(former), comparable(lane)) ? former : lane
  })
}

const comparable = (lane: LaneOptions) => ({ ...lane, provider: operators.get(lane) ?? lane.provider })

async function ownDelivery(config: NonNullable<PlatformConfig['own']>): Promise<OwnDeliveryOptions> {
  const { push, site, suppression, status, content, ...options } = config
  return {
    ...options,
    content,
    ...(push && { push: await pushProvider(push, content, 'platform.own.push', receiptsOf(config)) }),
    ...(site && { site: await siteProvider(site, 'platform.own.site') }),
    ...(await suppressionOptions(suppression, 'platform.own.suppression')),
    receiptsFrom: status.receiptsFrom,
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
