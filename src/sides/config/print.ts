import { stringify } from 'yaml'
import { hidden, maskAddress, secretsInAddress } from '../../base/runtime/address.ts'
import { type Leaf, optionName, type Setting, type Settings } from '../../base/runtime/setting.ts'
import { leavesOf } from './leaves.ts'
import { type Config, table } from './table.ts'

/** The effective configuration as an object: defaults filled in, secrets masked. printConfig() returns it as YAML. */
export function redacted(config: Config): object {
  return redact(table, config) as object
}

export function printConfig(config: Config): string {
  return stringify(redacted(config))
}

/** All secrets in the configuration, so that the log can mask them. */
export function secretsOf(config: Config): readonly string[] {
  const found = leavesOf(table, config).flatMap(({ leaf, value }) =>
    isWholeSecret(leaf) ? [String(value)] : secretsInAddress(String(value)),
  )
  return [...new Set(found)]
}

/** Of another address, only the password is a secret. */
const isWholeSecret = ({ secret, outbound, secretAddress }: Leaf<unknown>): boolean =>
  secret === true && (!outbound || secretAddress === true)

function redact(setting: Setting, value: unknown): unknown {
  if (value === undefined) return undefined
  switch (setting.type) {
    case 'leaf':
      if (isWholeSecret(setting)) return hidden
      return setting.write?.(value) ?? (typeof value === 'string' ? maskAddress(value) : value)
    case 'json':
      return redactJson(value)
    case 'list':
      return (value as unknown[]).map((item) => redact(setting.of, item))
    case 'group':
      return redactAll(setting.settings, value as Record<string, unknown>)
    case 'variants': {
      const { is, ...rest } = value as { is: string }
      const settings = setting.variants[is] as Settings
      const shown = redactAll(settings, rest)
      return Object.hasOwn(settings, is) ? shown : { provider: is, ...shown }
    }
  }
}

/** A template may contain a password of the provider. A text that is one placeholder is shown. */
function redactJson(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => redactJson(item, name))
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, redactJson(item, key)]))
  const isSecret = typeof value === 'string' && /pass|secret|token|key|auth/i.test(name)
  return isSecret && !/^\{\{[^{}]*\}\}$/.test(value) ? hidden : value
}

function redactAll(settings: Settings, values: Record<string, unknown>): object {
  const shown: Record<string, unknown> = {}
  for (const [name, setting] of Object.entries(settings))
    shown[name] = redact(setting, values[optionName(name, setting)])
  return shown
}
