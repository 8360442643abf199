import { placeAt, storeProblems } from '../brands/store-problems.ts'
import { channels } from '../contract/endpoints.ts'
import { checkAttributes } from './attributes-settings.ts'
import { checkChannels } from './check-channels.ts'
import type { DevicesConfig } from './devices-table.ts'
import { environmentName } from './environment-name.ts'
import type { Problem } from './problem.ts'
import { httpProblems, templateSettings } from './services/http-options.ts'
import type { Config } from './table.ts'

function ownLanes(platform: Config['platform'], channel: (typeof channels)[number]) {
  return (platform?.lanes ?? []).filter((lane) => lane.channel === channel && lane.to.is === 'own')
}

/** A rule for a service that does not exist never applies. The name of a module's service is not known here. */
function presentationProblems({ services, presentation }: DevicesConfig, at: string, where: string): Problem[] {
  const names = services.map(({ name }) => name)
  if (services.some(({ is }) => is === 'module')) return []
  return presentation.flatMap((rule, i) => {
    const unknown = rule.services?.find((name) => !names.includes(name))
    if (unknown === undefined) return []
    const description = `no push service is named ${JSON.stringify(unknown)}`
    return [{ path: `${at}.presentation[${i}].services`, where, description, remedy: `use one of ${names.join(', ')}` }]
  })
}

/** Checks settings against each other: duplicate names and keys, and settings that contradict each other. */
export function checkConsistency(config: Config, where: string, problems: Problem[]): void {
  const { operator, platform } = config
  const refuseDuplicate = (path: string, description: string, values: readonly string[], remedy: string): void => {
    const duplicate = values.findIndex((value, i) => values.indexOf(value) < i)
    if (duplicate >= 0) problems.push({ path: `${path}[${duplicate}]`, where, description, remedy })
  }
  for (const [path, keys] of [
    ['operator.keys', operator?.keys ?? []],
    ['operator.admin_keys', operator?.admin_keys ?? []],
    ['platform.keys', platform?.keys ?? []],
  ] as const) {
    refuseDuplicate(
      path,
      'another key has the same name',
      keys.map(({ name }) => name),
      'give each key its own name',
    )
    refuseDuplicate(
      path,
      'this key is listed twice',
      keys.map(({ key }) => key),
      'make another with: openssl rand -hex 24',
    )
  }
  for (const [path, push, brandsOfPush] of [
    ['operator.push', operator?.push, operator?.keys.flatMap((key) => key.brands)],
    ['platform.own.push', platform?.own?.push, ownLanes(platform, 'push').map(({ brand }) => brand)],
  ] as const) {
    const brands = [...new Set(brandsOfPush)]
    if (push?.is === 'http') problems.push(...httpProblems(push, 'user', { at: path, where, brands }))
    for (const [i, service] of (push?.is === 'devices' ? push.devices.services : []).entries()) {
      const at = `${path}.devices.services[${i}]`
      if (service.is === 'http') problems.push(...httpProblems(service, 'device', { at, where, brands: [] }))
    }
    if (push?.is === 'devices') problems.push(...presentationProblems(push.devices, `${path}.devices`, where))
  }
  for (const channel of channels) {
    const path = `platform.own.${channel}`
    const used = ownLanes(platform, channel).length > 0
    if (used && !platform?.own?.[channel])
      problems.push({
        path,
        where,
        description: `is missing, but a lane delivers ${channel} messages with to: own`,
        remedy: `add ${path}, or write to: {provider: operator-api, …} in the lane`,
      })
    if (!used && platform?.own?.[channel])
      problems.push({
        path,
        where,
        description: 'is not used by any lane',
        remedy: `write to: own in a lane with channel: ${channel}, or remove ${path}`,
      })
  }
  for (const [i, { scopes, brands }] of (platform?.keys ?? []).entries()) {
    if (scopes.includes('devices') && brands?.length !== 1)
      problems.push({
        path: `platform.keys[${i}].brands`,
        where,
        description:
          'a key with the scope devices needs exactly one brand, because link and unlink do not name a brand',
        remedy: 'write brands: [1], and give each brand its own key',
      })
  }
  for (const found of checkChannels(operator?.publish ?? [], platform?.device_links ?? [], platform?.intake ?? []))
    problems.push({ where, ...found })
  const lanes = platform?.lanes ?? []
  refuseDuplicate(
    'platform.lanes',
    'this brand and channel have a lane already',
    lanes.map((lane) => `${lane.brand}/${lane.channel}`),
    'keep one lane for each brand and channel',
  )
  for (const [i, { transactional }] of lanes.entries())
    for (const [n, name] of transactional.keys.entries())
      if (!platform?.keys.some((key) => key.name === name && key.scopes.includes('enqueue')))
        problems.push({
          path: `platform.lanes[${i}].transactional.keys[${n}]`,
          where,
          description: `no key with the scope enqueue is named ${JSON.stringify(name)}`,
          remedy: 'write the name of such a key of platform.keys',
        })
  const webhooks = operator?.status?.webhooks ?? []
  refuseDuplicate(
    'operator.status.webhooks',
    'the statuses of this brand are sent already',
    webhooks.map(({ brand }) => brand),
    'send the statuses of each brand to one platform',
  )
  for (const [i, { to, status }] of lanes.entries()) {
    if (status.poll !== undefined && to.is !== 'operator-api')
      problems.push({
        path: `platform.lanes[${i}].status.poll`,
        where,
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
    if (to && to.api_key === undefined && to.auth === undefined)
      problems.push({
        path: `${path}.api_key`,
        where,
        description: 'missing; expected the API key that the other side issued, or auth',
        remedy: `add it to the file, or set ${environmentName(`${path}.api_key`)}`,
      })
  }
  const compared = (platform?.reconciliation ?? []).flatMap(({ brand, fields }, i) =>
    fields.map((field) => ({ i, list: `${brand}/${field}` })),
  )
  for (const [n, { i, list }] of compared.entries()) {
    if (compared.findIndex((each) => each.list === list) < n)
      problems.push({
        path: `platform.reconciliation[${i}].fields`,
        where,
        description: `${list} is compared already`,
        remedy: 'compare each field of a brand with one operator',
      })
  }
  for (const [i, { to }] of webhooks.entries())
    if (to.is === 'template') {
      const at = `operator.status.webhooks[${i}].to`
      problems.push(...httpProblems(templateSettings(to), 'status', { at, where, brands: [] }))
    }
  const retries = [
    ...lanes.map(({ retry }, i) => ({ path: `platform.lanes[${i}].retry`, retry })),
    ...webhooks.map(({ retry }, i) => ({ path: `operator.status.webhooks[${i}].retry`, retry })),
  ]
  for (const { path, retry } of retries) {
    if (retry.first > retry.most)
      problems.push({
        path,
        where,
        description: 'first is longer than most',
        remedy: 'make first at most as long as most',
      })
  }
  if (operator) checkAttributes(operator, where, problems)
  for (const [path, side] of [
    ['operator', operator],
    ['platform.own', platform?.own],
  ] as const)
    if (side?.status?.receipts !== undefined && !side.app)
      problems.push({
        path: `${path}.status.receipts`,
        where,
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
          where,
          description: 'is the same as operator.store',
          remedy: 'give each side its own store',
        })
    problems.push(...storeProblems(platform, 'platform.').map((problem) => ({ where, ...problem })))
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
      problems.push({ path, where, description: `is the same as ${taken.path}`, remedy: 'give each its own port' })
  }
}
