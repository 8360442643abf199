import { stringify } from 'yaml'
import type { Setting, Settings } from './setting.ts'
import { type Config, table } from './table.ts'

const hidden = '********'

/** The whole configuration as it applies, defaults filled in, without its secrets. As an object; printConfig() gives YAML. */
export function redacted(config: Config): object {
  return redact(table, config) as object
}

export function printConfig(config: Config): string {
  return stringify(redacted(config))
}

/** Every secret text in it, so that the log can make sure that it never writes one. */
export function secretsOf(config: Config): readonly string[] {
  const found = new Set<string>()
  redact(table, config, (secret) => {
    if (!/^(sqlite|postgres(ql)?):/.test(secret)) found.add(secret)
    else if (URL.canParse(secret) && new URL(secret).password) {
      const { password } = new URL(secret)
      found.add(password).add(decodeURIComponent(password))
    }
  })
  return [...found]
}

function redact(setting: Setting, value: unknown, tell?: (secret: string) => void): unknown {
  if (value === undefined) return undefined
  switch (setting.type) {
    case 'leaf':
      if (!setting.secret) return setting.write?.(value) ?? value
      tell?.(String(value))
      return withoutPassword(String(value))
    case 'json':
      return value
    case 'list':
      return (value as unknown[]).map((item) => redact(setting.of, item, tell))
    case 'group':
      return redactAll(setting.settings, value as Record<string, unknown>, tell)
    case 'variants': {
      const { is, ...rest } = value as { is: string }
      const settings = setting.variants[is] as Settings
      const shown = redactAll(settings, rest, tell)
      return Object.hasOwn(settings, is) ? shown : { provider: is, ...shown }
    }
  }
}

function redactAll(settings: Settings, values: Record<string, unknown>, tell?: (secret: string) => void): object {
  const shown: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(values)) shown[name] = redact(settings[name] as Setting, value, tell)
  return shown
}

/** A store's address is worth seeing, its password is not. */
function withoutPassword(secret: string): string {
  if (secret.startsWith('sqlite:')) return secret
  if (!/^postgres(ql)?:/.test(secret)) return hidden
  const url = new URL(secret)
  if (url.password) url.password = hidden
  for (const name of url.searchParams.keys()) if (/pass|key/i.test(name)) url.searchParams.set(name, hidden)
  return url.href
}
