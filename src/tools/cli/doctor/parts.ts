// The parts of a configuration, each with its check.

import { type Check, fails, passes, warns } from '../../../base/runtime/check.ts'
import { inspectStore } from '../../../base/store/inspect-store.ts'
import { operatorOptions, platformOptions } from '../../../sides/config/compose/compose.ts'
import { ConfigError } from '../../../sides/config/problem.ts'
import { isExampleKey, type Risk, risksOf } from '../../../sides/config/risks.ts'
import type { Config, OperatorConfig, PlatformConfig } from '../../../sides/config/table.ts'
import type { OperatorOptions } from '../../../sides/operator/options.ts'
import { providerOf } from '../../../sides/platform/deliver-lane.ts'
import { storesOf } from '../stores-of.ts'
import { checkContent } from './content.ts'
import type { Part } from './part.ts'
import { readMetrics } from './running-metrics.ts'
import { checkSide } from './side.ts'

export async function partsOf(config: Config): Promise<readonly Part[]> {
  const { operator, platform } = config
  return [
    ...risksOf(config).map(acceptedRisk),
    ...(operator ? [...(await sideParts('operator', operator, config)), ...(await operatorParts(operator))] : []),
    ...(platform ? [...(await sideParts('platform', platform, config)), ...(await platformParts(platform))] : []),
  ]
}

/** A warning about an accepted risk. (A risk that is not accepted is an error of the configuration.) */
function acceptedRisk({ risk, path, description, remedy }: Risk): Part {
  const check = async () => [warns(`${description} (accepted: ${risk})`, remedy)]
  return { setting: path, check }
}

async function sideParts(
  side: 'operator' | 'platform',
  config: OperatorConfig | PlatformConfig,
  all: Config,
): Promise<readonly Part[]> {
  const lists = side === 'operator' ? ['keys', 'admin_keys'] : ['keys']
  const further = 'stores' in config ? config.stores : []
  const stores = (await storesOf[side](all)) ?? []
  return [
    ...stores.map(({ url, migrations }) => {
      const i = further.findIndex((each) => each.url === url)
      return {
        setting: i < 0 ? `${side}.store` : `${side}.stores[${i}].url`,
        check: () => inspectStore(url, migrations),
      }
    }),
    portPart(side, `${side}.port`, config),
    ...(config.admin ? [portPart(side, `${side}.admin.port`, config.admin)] : []),
    ...lists.map((list) => ({
      setting: `${side}.${list}`,
      check: async () =>
        exampleKeys((config as unknown as Record<string, readonly { name: string; key: string }[]>)[list] ?? []),
    })),
  ]
}

function portPart(side: 'operator' | 'platform', setting: string, listening: Parameters<typeof checkSide>[1]): Part {
  return { setting, check: () => checkSide(side, listening, setting) }
}

/** Warns of the published keys of the examples. */
function exampleKeys(keys: readonly { readonly name: string; readonly key: string }[]): Check[] {
  return keys
    .filter(({ key }) => isExampleKey(key))
    .map(({ name }) =>
      warns(`the key of ${JSON.stringify(name)} is a published example key`, 'make one with: openssl rand -hex 24'),
    )
}

async function operatorParts(config: OperatorConfig): Promise<readonly Part[]> {
  const options = await operatorOptions(config).catch(asPart('operator'))
  if (!('keys' in options)) return [options]
  const brands = [...new Set(config.keys.flatMap((key) => key.brands))]
  return [
    ...pushParts(options.push, 'operator.push'),
    ...(typeof options.site === 'object' ? [providerPart('operator.site', options.site)] : []),
    { setting: 'operator.content', check: () => checkContent(config) },
    {
      setting: options.suppression === 'none' ? 'operator.suppression' : 'operator.attributes',
      check: async () => [...(await checkSuppression(options, brands)), ...(await checkHeldLists(config))],
    },
  ]
}

async function platformParts(config: PlatformConfig): Promise<readonly Part[]> {
  const options = await platformOptions(config).catch(asPart('platform'))
  if (!('lanes' in options)) return [options]
  const consumers = (setting: string, list: readonly { readonly consumer: Checkable }[] = []) =>
    list.map(({ consumer }, i) => providerPart(`platform.${setting}[${i}].from`, consumer))
  return [
    ...options.lanes.flatMap((lane, i) => {
      const { provider } = lane
      return provider === 'own' ? [] : [providerPart(`platform.lanes[${i}].to`, providerOf({ ...lane, provider }))]
    }),
    ...pushParts(options.own?.push, 'platform.own.push'),
    ...(typeof options.own?.site === 'object' ? [providerPart('platform.own.site', options.own.site)] : []),
    ...consumers('intake', options.intake),
    ...consumers('device_links', options.deviceLinks),
  ]
}

/** Turns an error while the options of a side are built into one finding, so that the other side is still checked. */
function asPart(side: string): (error: Error) => Part {
  return (error) => {
    const [problem] = error instanceof ConfigError ? error.problems : []
    const { path = side, description = error.message, remedy = 'docs/settings.md lists the settings' } = problem ?? {}
    return { setting: path, check: async () => [fails(description, remedy)] }
  }
}

/** A Provider, a PushService, or the consumer of a queue or topic. */
interface Checkable {
  readonly name: string
  check?(): Promise<readonly Check[]>
  close?(): Promise<void>
}

/** One part per push service, or one for the provider. */
function pushParts(
  push: OperatorOptions['push'] | { readonly devices: { readonly services: readonly Checkable[] } },
  setting: string,
): readonly Part[] {
  if (push === undefined) return []
  if (!('devices' in push)) return [providerPart(setting, push)]
  return push.devices.services.map((service) => providerPart(`${setting} ${service.name}`, service))
}

function providerPart(setting: string, provider: Checkable): Part {
  return {
    setting,
    check: async () => (await provider.check?.()) ?? [passes(`${provider.name} has no check of its own`)],
    close: async () => provider.close?.(),
  }
}

/** Only the running operator knows the list before the one that has shrunk. */
async function checkHeldLists(config: OperatorConfig): Promise<readonly Check[]> {
  const held = (await readMetrics(config)).matchAll(/^bellwire_list_held\{source="file (.*)"\} 1$/gm)
  return [...held].map(([, escaped = '']) => {
    const file = JSON.parse(`"${escaped}"`) as string
    return fails(
      `the running operator does not believe ${file}, which lists far fewer users: the missing users keep their last values`,
      `if the list is right: touch ${file}.confirmed`,
    )
  })
}

async function checkSuppression(
  { attributes: source, suppression }: OperatorOptions,
  brands: readonly string[],
): Promise<readonly Check[]> {
  if (suppression === 'none' || !source)
    return [
      warns(
        'none: messages go to all users, including blocked, excluded and unconsented ones',
        'write attributes: [{file: ./users.csv}], or another source, and remove suppression: none',
      ),
    ]
  const context = { deadline: Date.now() + 5_000, signal: AbortSignal.timeout(5_000) }
  const unanswered: string[] = []
  for (const brand of brands) {
    const fields = source.fieldsOf?.(brand) ?? source.fields
    // No user has this id: this checks only whether the source answers.
    await source.among(brand, ['bellwire doctor'], fields, context).catch((error: Error) => {
      throw new Error(`${source.name} cannot answer for brand ${brand}: ${error.message}`)
    })
    for (const field of ['blocked', 'excluded'] as const)
      if (!fields.includes(field)) unanswered.push(`${field} of brand ${brand}`)
  }
  const answers = passes(`${source.name} answers for ${source.fields.join(', ')}`)
  if (unanswered.length === 0) return [answers]
  // The column of a file is perhaps misspelled.
  const description = `no source answers for ${unanswered.join(', ')}: messages go to these users`
  return [answers, warns(description, 'add the field to a source, or correct its name there')]
}
