import { missingPackage } from '../../base/runtime/optional-package.ts'
import { channels } from '../../contract/endpoints.ts'
import { placeAt, storeProblems } from '../../subjects/brands/store-problems.ts'
import {
  brandFaults,
  keyFaults,
  laneFaults,
  presentationFaults,
  retryFaults,
} from '../../subjects/settings/contradictions.ts'
import { checkAttributes, queryFaults } from './check-attributes.ts'
import { checkChannels } from './check-channels.ts'
import { environmentName } from './environment-name.ts'
import { httpProblems, templateSettings } from './http-options.ts'
import type { Fault } from './problem.ts'
import type { Config, OperatorConfig } from './table.ts'

function ownLanes(platform: Config['platform'], channel: (typeof channels)[number]) {
  return (platform?.lanes ?? []).filter((lane) => lane.channel === channel && lane.to.is === 'own')
}

/** Checks settings against each other: duplicate names and keys, and settings that contradict each other. */
export function checkConsistency(config: Config): readonly Fault[] {
  const problems: Fault[] = []
  const { operator, platform } = config
  problems.push(
    ...keyFaults('operator.keys', operator?.keys ?? []),
    ...keyFaults('operator.admin_keys', operator?.adminKeys ?? []),
    ...keyFaults('platform.keys', platform?.keys ?? []),
    ...(platform ? laneFaults(platform, 'platform.') : []),
    ...consoleFaults('operator', operator, operator?.adminKeys),
    ...consoleFaults('platform', platform, platform?.keys),
    ...retryFaults('operator.publish', operator?.publish ?? []),
    ...retryFaults('operator.status.webhooks', operator?.status?.webhooks ?? []),
  )
  for (const [path, push, brandsOfPush, definedBy] of [
    ['operator.push', operator?.push, operator?.keys.flatMap((key) => key.brands), 'the brands of operator.keys'],
    [
      'platform.own.push',
      platform?.own?.push,
      ownLanes(platform, 'push').map(({ brand }) => brand),
      'the brands of lanes with to: own',
    ],
  ] as const) {
    const brands = [...new Set(brandsOfPush)]
    if (push?.is === 'http') problems.push(...httpProblems(push, 'user', { at: path, brands }))
    for (const [i, service] of (push?.is === 'devices' ? push.devices.services : []).entries()) {
      const at = `${path}.devices.services[${i}]`
      if (service.is === 'http') problems.push(...httpProblems(service, 'device', { at, brands: [] }))
    }
    if (push?.is !== 'devices') continue
    const { services, presentation, source } = push.devices
    if (source?.is === 'sql') {
      const queries = [['sql', source.devices] as const, ['holders', source.holders] as const]
      problems.push(...queryFaults(`${path}.devices.source`, 'devices', queries, brands))
    }
    // A module names its own service, which is not known here.
    if (services.every(({ is }) => is !== 'module'))
      problems.push(
        ...presentationFaults(
          `${path}.devices.presentation`,
          presentation,
          services.map(({ name }) => name ?? ''),
        ),
      )
    for (const [i, service] of services.entries())
      problems.push(...brandFaults(`${path}.devices.services[${i}].brands`, service.brands ?? [], brands, definedBy))
  }
  for (const channel of channels) {
    const path = `platform.own.${channel}`
    const used = ownLanes(platform, channel).length > 0
    if (used && !platform?.own?.[channel])
      problems.push({
        path,
        description: `is missing, but a lane delivers ${channel} messages with to: own`,
        remedy: `add ${path}, or write to: {provider: operator-api, …} in the lane`,
      })
    if (!used && platform?.own?.[channel])
      problems.push({
        path,
        description: 'is not used by any lane',
        remedy: `write to: own in a lane with channel: ${channel}, or remove ${path}`,
      })
  }
  for (const [i, { scopes, brands }] of (platform?.keys ?? []).entries()) {
    if (scopes.includes('devices') && brands?.length !== 1)
      problems.push({
        path: `platform.keys[${i}].brands`,
        description:
          'a key with the scope devices needs exactly one brand, because link and unlink do not name a brand',
        remedy: 'write brands: [1], and give each brand its own key',
      })
  }
  problems.push(...mailFaults('operator', operator?.alerts), ...mailFaults('platform', platform?.alerts))
  problems.push(...checkChannels(operator?.publish ?? [], platform?.deviceLinks ?? [], platform?.intake ?? []))
  const lanes = platform?.lanes ?? []
  const webhooks = operator?.status?.webhooks ?? []
  for (const [i, { to, status }] of lanes.entries()) {
    if (status.pollMs !== undefined && to.is !== 'operator-api')
      problems.push({
        path: `platform.lanes[${i}].status.poll`,
        description: 'only an operator can be polled, and the lane has a module',
        remedy: 'remove poll, or write to: {provider: operator-api, …}',
      })
  }
  const authenticated = [
    ...lanes.map(({ to }, i) => ({ path: `platform.lanes[${i}].to`, to: to.is === 'operator-api' ? to : undefined })),
    ...(platform?.reconciliation ?? []).map((to, i) => ({ path: `platform.reconciliation[${i}]`, to })),
    ...(operator?.publish ?? []).map(({ to }, i) => ({
      path: `operator.publish[${i}].to`,
      to: to.is === 'rest' ? to : undefined,
    })),
  ]
  for (const { path, to } of authenticated) {
    if (to && to.apiKey === undefined && to.auth === undefined)
      problems.push({
        path: `${path}.api_key`,
        description: 'missing; expected the API key that the other side issued, or auth',
        remedy: `add it to the file, or set ${environmentName(`${path}.api_key`)}`,
      })
  }
  const brandsOfKeys = operator?.keys.flatMap((key) => key.brands) ?? []
  const brandsOfLanes = lanes.map(({ brand }) => brand)
  for (const [i, { brand, to }] of webhooks.entries()) {
    const path = `operator.status.webhooks[${i}]`
    if (webhooks.slice(0, i).some((other) => other.brand === brand))
      problems.push({
        path,
        description: 'the statuses of this brand are sent already',
        remedy: 'send the statuses of each brand to one platform',
      })
    problems.push(...brandFaults(`${path}.brand`, [brand], brandsOfKeys, 'the brands of operator.keys'))
    if (to.is === 'template')
      problems.push(...httpProblems(templateSettings(to), 'status', { at: `${path}.to`, brands: [] }))
  }
  for (const [i, { brands = [] }] of (platform?.intake ?? []).entries())
    problems.push(...brandFaults(`platform.intake[${i}].brands`, brands, brandsOfLanes, 'the brands of lanes'))
  const compared = (platform?.reconciliation ?? []).flatMap(({ brand, fields }, i) =>
    fields.map((field) => ({ i, list: `${brand}/${field}` })),
  )
  for (const [n, { i, list }] of compared.entries()) {
    if (compared.findIndex((each) => each.list === list) < n)
      problems.push({
        path: `platform.reconciliation[${i}].fields`,
        description: `${list} is compared already`,
        remedy: 'compare each field of a brand with one operator',
      })
  }
  if (operator) problems.push(...checkAttributes(operator))
  for (const [path, side] of [
    ['operator', operator],
    ['platform.own', platform?.own],
  ] as const)
    if (side?.status?.receipts !== undefined && !side.app)
      problems.push({
        path: `${path}.status.receipts`,
        description: `needs ${path}.app, whose secrets make the receipt tokens`,
        remedy: 'add app: {secrets: […], origins: [the site of the service worker]}',
      })
  if (platform) {
    const { store, stores = [] } = platform
    const databases = [
      { path: 'platform.store', url: store },
      ...stores.map(({ url }, i) => ({ path: `platform.stores[${i}].url`, url })),
    ]
    for (const { path, url } of databases)
      if (operator && placeAt(url) === placeAt(operator.store))
        problems.push({
          path,
          description: 'is the same as operator.store',
          remedy: 'give each side its own store',
        })
    problems.push(...storeProblems(platform, 'platform.'))
  }
  const ports = [
    { path: 'operator.port', ...operator },
    { path: 'operator.admin.port', ...operator?.admin },
    { path: 'platform.port', ...platform },
    { path: 'platform.admin.port', ...platform?.admin },
  ]
  for (const [i, { path, host, port }] of ports.entries()) {
    const taken = ports.slice(0, i).find((other) => other.port === port && other.host === host)
    if (port && taken)
      problems.push({ path, description: `is the same as ${taken.path}`, remedy: 'give each its own port' })
  }
  return problems
}

/** @param keys of /admin */
function consoleFaults(
  side: string,
  config: Pick<OperatorConfig, 'console' | 'trustedProxies'> | undefined,
  keys: readonly { readonly name: string }[] = [],
): readonly Fault[] {
  if (!config?.console) return []
  const { people = [], proxyHeader, oidc } = config.console
  const path = `${side}.console`
  const missing = oidc && missingPackage('openid-client')
  const names = [...keys, ...people].map(({ name }) => name)
  const repeated = people.findIndex((_, i) => names.indexOf(names[keys.length + i] as string) < keys.length + i)
  return [
    ...(missing ? [{ path: `${path}.oidc`, ...missing }] : []),
    ...(repeated >= 0
      ? [
          {
            path: `${path}.people[${repeated}].name`,
            description: 'a key or another person has the same name',
            remedy: 'give each its own name: the audit trail has it',
          },
        ]
      : []),
    ...(people.length > 0 && !oidc && proxyHeader === undefined
      ? [{ path: `${path}.people`, description: 'they have no way to sign in', remedy: 'add oidc or proxy_header' }]
      : []),
    ...(people.length === 0 && (oidc || proxyHeader !== undefined)
      ? [{ path, description: 'nobody may sign in', remedy: 'add the people, each with scopes' }]
      : []),
    ...(proxyHeader !== undefined && config.trustedProxies.length === 0
      ? [
          {
            path: `${path}.proxy_header`,
            description: 'no proxy is trusted, so the header is never accepted',
            remedy: `add the address of the proxy to ${side}.trusted_proxies`,
          },
        ]
      : []),
  ]
}

function mailFaults(side: string, alerts: OperatorConfig['alerts']): readonly Fault[] {
  const missing = missingPackage('nodemailer')
  const index = alerts?.to.findIndex(({ is }) => is === 'mail') ?? -1
  return missing && index >= 0 ? [{ path: `${side}.alerts.to[${index}].mail`, ...missing }] : []
}
