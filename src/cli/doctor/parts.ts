// Which parts a configuration has, and how each is looked at.

import { ConfigError } from '../../config/problem.ts'
import { isExampleKey, type Risk, risksOf } from '../../config/risks.ts'
import type { Config, OperatorConfig, PlatformConfig } from '../../config/table.ts'
import type { OperatorOptions } from '../../operator/options.ts'
import { providerOf } from '../../platform/create-platform.ts'
import type { Check } from '../../providers/provider.ts'
import { inspectStore } from '../../store/inspect-store.ts'
import { operatorOptions, platformOptions } from '../compose.ts'
import { lookAtContent } from './content.ts'
import type { Part } from './part.ts'
import { lookAtSide } from './side.ts'

export async function partsOf(config: Config): Promise<readonly Part[]> {
  const { operator, platform } = config
  return [
    ...risksOf(config).map(acceptedRisk),
    ...(operator ? [...sideParts('operator', operator), ...(await operatorParts(operator))] : []),
    ...(platform ? [...sideParts('platform', platform), ...(await platformParts(platform))] : []),
  ]
}

/** Only accepted risks: any other risk is an error of the configuration. */
function acceptedRisk({ risk, path, what, remedy }: Risk): Part {
  return { setting: path, look: async () => [{ ok: true, warning: true, what: `${what} (accepted: ${risk})`, remedy }] }
}

function sideParts(side: 'operator' | 'platform', config: OperatorConfig | PlatformConfig): readonly Part[] {
  const lists = side === 'operator' ? ['keys', 'admin_keys'] : ['keys']
  return [
    { setting: `${side}.store`, look: () => inspectStore(config.store) },
    portPart(side, `${side}.port`, config),
    ...(config.admin ? [portPart(side, `${side}.admin.port`, config.admin)] : []),
    ...lists.map((list) => ({
      setting: `${side}.${list}`,
      look: async () =>
        exampleKeys((config as unknown as Record<string, readonly { name: string; key: string }[]>)[list] ?? []),
    })),
  ]
}

function portPart(
  side: 'operator' | 'platform',
  setting: string,
  address: { readonly host: string; readonly port: number },
): Part {
  return { setting, look: () => lookAtSide(side, address, setting) }
}

/** Everybody knows the keys of the examples. */
function exampleKeys(keys: readonly { readonly name: string; readonly key: string }[]): Check[] {
  return keys
    .filter(({ key }) => isExampleKey(key))
    .map(({ name }) => ({
      ok: true,
      warning: true,
      what: `the key of ${JSON.stringify(name)} is one of the examples`,
      remedy: 'make one with: openssl rand -hex 24',
    }))
}

async function operatorParts(config: OperatorConfig): Promise<readonly Part[]> {
  const options = await operatorOptions(config).catch(asPart('operator'))
  if (!('keys' in options)) return [options]
  const brands = [...new Set(config.keys.flatMap((key) => key.brands))]
  return [
    ...pushParts(options.push),
    ...(typeof options.site === 'object' ? [providerPart('operator.site', options.site)] : []),
    { setting: 'operator.content', look: () => lookAtContent(config) },
    {
      setting: options.suppression === 'none' ? 'operator.suppression' : 'operator.attributes',
      look: () => lookAtSuppression(options, brands),
    },
  ]
}

async function platformParts(config: PlatformConfig): Promise<readonly Part[]> {
  const options = await platformOptions(config).catch(asPart('platform'))
  if (!('lanes' in options)) return [options]
  return options.lanes.map((lane, i) => providerPart(`platform.lanes[${i}].to`, providerOf(lane)))
}

/** What could not even be put together is one finding, beside those of the others. */
function asPart(side: string): (error: Error) => Part {
  return (error) => {
    const [problem] = error instanceof ConfigError ? error.problems : []
    const { path = side, what = error.message, remedy = 'docs/running.md lists the settings' } = problem ?? {}
    return { setting: path, look: async () => [{ ok: false, what, remedy }] }
  }
}

/** Whatever can be asked how it is: a Provider, or a PushService. */
interface Checked {
  readonly name: string
  check?(): Promise<readonly Check[]>
  close?(): Promise<void>
}

/** The services of the devices are looked at one by one. */
function pushParts(
  push: OperatorOptions['push'] | { readonly devices: { readonly services: readonly Checked[] } },
): readonly Part[] {
  if (push === undefined) return []
  if (!('devices' in push)) return [providerPart('operator.push', push)]
  return push.devices.services.map((service) => providerPart(`operator.push ${service.name}`, service))
}

function providerPart(setting: string, provider: Checked): Part {
  return {
    setting,
    look: async () =>
      (await provider.check?.()) ?? [{ ok: true, what: `${provider.name} is there; it does not say how it is` }],
    close: async () => provider.close?.(),
  }
}

async function lookAtSuppression(
  { attributes: source, suppression }: OperatorOptions,
  brands: readonly string[],
): Promise<readonly Check[]> {
  if (suppression === 'none' || !source)
    return [
      {
        ok: true,
        warning: true,
        what: 'none: messages go to everybody, also to who is blocked, excluded or did not consent',
        remedy: 'write attributes: [{file: ./users.csv}], or another source, and leave suppression out',
      },
    ]
  const context = { deadline: Date.now() + 5_000, signal: AbortSignal.timeout(5_000) }
  for (const brand of brands) {
    // Nobody of this name: only whether it can answer is asked.
    await source.among(brand, ['bellwire doctor'], source.fields, context).catch((error: Error) => {
      throw new Error(`${source.name} cannot answer for brand ${brand}: ${error.message}`)
    })
  }
  return [{ ok: true, what: `${source.name} answers for ${source.fields.join(', ')}` }]
}
