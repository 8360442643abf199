import type { ShownSetting } from '../../base/http/service.ts'
import type { ReadConfig } from './load.ts'
import { redacted } from './print.ts'
import { sourceOf } from './raw.ts'

/**
 * The settings of one side in the order of the table, each with the place where it was written. Secrets are masked.
 *
 * @example describeSettings(await readConfig(), 'operator')
 */
export function describeSettings({ config, raw }: ReadConfig, side: 'operator' | 'platform'): readonly ShownSetting[] {
  const other = side === 'operator' ? 'platform' : 'operator'
  return valuesIn({ ...redacted(config), [other]: undefined }, '').map(({ setting, value }) => ({
    setting,
    value,
    source: sourceOf(raw, setting) ?? 'default',
  }))
}

function valuesIn(value: unknown, setting: string): readonly Pick<ShownSetting, 'setting' | 'value'>[] {
  if (value === undefined) return []
  if (Array.isArray(value) && value.some((item) => typeof item === 'object'))
    return value.flatMap((item, i) => valuesIn(item, `${setting}[${i}]`))
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return Object.entries(value).flatMap(([name, inner]) =>
      valuesIn(inner, setting === '' ? name : `${setting}.${name}`),
    )
  return [{ setting, value: Array.isArray(value) ? value.join(', ') || 'none' : String(value) }]
}
