import { type Leaf, optionName, type Setting, type Settings } from '../../base/runtime/setting.ts'

/** One value of the validated configuration, with its path and its setting. */
export interface ConfiguredValue {
  /** 'operator.keys[0].key' */
  readonly path: string
  readonly leaf: Leaf<unknown>
  readonly value: unknown
}

/**
 * All leaves that have a value, in the order of the settings table.
 *
 * @example leavesOf(table, config).filter(({ leaf }) => leaf.secret)
 */
export function leavesOf(setting: Setting, value: unknown, path = ''): readonly ConfiguredValue[] {
  if (value === undefined) return []
  switch (setting.type) {
    case 'leaf':
      return [{ path, leaf: setting, value }]
    case 'json':
      return []
    case 'list':
      return (value as unknown[]).flatMap((item, i) => leavesOf(setting.of, item, `${path}[${i}]`))
    case 'group':
      return leavesWithin(setting.settings, value as Record<string, unknown>, path)
    case 'variants': {
      const { is, ...rest } = value as { is: string }
      return leavesWithin(setting.variants[is] as Settings, rest, path)
    }
  }
}

function leavesWithin(settings: Settings, values: Record<string, unknown>, path: string): readonly ConfiguredValue[] {
  return Object.entries(settings).flatMap(([name, setting]) =>
    leavesOf(setting, values[optionName(name, setting)], path === '' ? name : `${path}.${name}`),
  )
}
