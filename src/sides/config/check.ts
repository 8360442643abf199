import { maskAddress } from '../../base/runtime/address.ts'
import {
  type Group,
  type Leaf,
  type List,
  optionName,
  type Setting,
  type Settings,
  type ValueOf,
  type Variants,
} from '../../base/runtime/setting.ts'
import { environmentName } from './environment-name.ts'
import { closestName, type Problem } from './problem.ts'
import { emptyMap, type Origin, type Raw } from './raw.ts'
import { readJson } from './read-json.ts'

/**
 * Parses and validates a setting. Errors are appended to `problems`; the returned value is valid only if none were.
 *
 * @param raw undefined if the setting is not written
 * @returns the value, with defaults filled in
 */
export function check<S extends Setting>(
  setting: S,
  raw: Raw | undefined,
  path: string,
  problems: Problem[],
): ValueOf<S> {
  const unknownOrigin = { where: '', base: process.cwd() }
  return checkAny(setting, raw, { path, parent: raw?.origin ?? unknownOrigin, problems }) as ValueOf<S>
}

interface Place {
  readonly path: string
  /** Where the parent is written: the place to report when the setting itself is missing. */
  readonly parent: Origin
  readonly problems: Problem[]
}

function checkAny(setting: Setting, raw: Raw | undefined, at: Place): unknown {
  // `key:` without a value is read as an empty text: treat it as not written.
  const nonEmpty = raw?.type === 'text' && raw.text === '' ? undefined : raw
  if (nonEmpty === undefined && setting.optional) return undefined
  switch (setting.type) {
    case 'leaf':
      return checkLeaf(setting, nonEmpty, at)
    case 'json':
      return nonEmpty === undefined ? missing(setting, at, 'a value') : readJson(nonEmpty, at.path, at.problems)
    case 'list':
      return checkList(setting, nonEmpty, at)
    case 'group':
      return checkGroup(setting, nonEmpty, at)
    case 'variants':
      return checkVariants(setting, nonEmpty, at)
  }
}

function checkLeaf(leaf: Leaf<unknown>, raw: Raw | undefined, at: Place): unknown {
  if (raw === undefined) {
    if (leaf.default !== undefined) return leaf.parse(leaf.default, at.parent.base)
    return missing(leaf, at, leaf.expected)
  }
  if (raw.type !== 'text') return wrong(leaf, raw, at, `expected ${leaf.expected}, found ${nameOf(raw)}`)
  const value = leaf.parse(raw.text, raw.origin.base)
  if (value !== undefined) return value
  // Never print a secret, not even an invalid one.
  return wrong(
    leaf,
    raw,
    at,
    `expected ${leaf.expected}${leaf.secret ? '' : `, found ${JSON.stringify(maskAddress(raw.text))}`}`,
  )
}

function checkList(setting: List<Setting>, raw: Raw | undefined, at: Place): unknown {
  if (raw !== undefined && raw.type !== 'list' && !setting.allowSingle)
    return wrong(setting, raw, at, `expected a list, found ${nameOf(raw)}`)
  const items = raw === undefined ? [] : raw.type === 'list' ? raw.items : [raw]
  if (items.length < (setting.minItems ?? 0))
    return missing(setting, at, `a list with at least ${setting.minItems} item${setting.minItems === 1 ? '' : 's'}`)
  return items.map((item, i) => checkAny(setting.of, item, { ...at, path: `${at.path}[${i}]`, parent: item.origin }))
}

function checkGroup(setting: Group<Settings>, raw: Raw | undefined, at: Place): unknown {
  if (raw !== undefined && raw.type !== 'map')
    return wrong(setting, raw, at, `expected settings by name, found ${nameOf(raw)}`)
  return checkSettings(setting.settings, raw ?? emptyMap(at.parent), at)
}

function checkSettings(settings: Settings, raw: Raw & { type: 'map' }, at: Place, alsoKnown?: string): object {
  for (const [name, { origin }] of raw.entries) {
    if (Object.hasOwn(settings, name) || name === alsoKnown) continue
    const known = Object.keys(settings)
    const suggestion = closestName(name, known)
    at.problems.push({
      path: join(at.path, name),
      where: origin.where,
      description: 'unknown setting',
      remedy: suggestion ? `did you mean ${suggestion}?` : `known settings: ${known.join(', ') || 'none'}`,
    })
  }
  const values: Record<string, unknown> = {}
  for (const [name, setting] of Object.entries(settings)) {
    const entry = raw.entries.get(name)
    const parent = entry?.origin ?? at.parent
    const value = checkAny(setting, entry?.value, { ...at, path: join(at.path, name), parent })
    if (value !== undefined) values[optionName(name, setting)] = value
  }
  return values
}

function checkVariants(
  setting: Variants<Readonly<Record<string, Settings>>>,
  raw: Raw | undefined,
  at: Place,
): unknown {
  const names = Object.keys(setting.variants)
  const expected = `one of ${names.join(', ')}`
  if (raw === undefined) return missing(setting, at, expected)
  if (raw.type === 'list') return wrong(setting, raw, at, `expected ${expected}, found a list`)
  // `none` is short for `{provider: none}`.
  const map = raw.type === 'map' ? raw : emptyMap(raw.origin)
  const named = raw.type === 'map' ? raw.entries.get('provider')?.value : raw
  const is = named === undefined ? names.find((name) => map.entries.has(name)) : named.type === 'text' ? named.text : ''
  const settings = is !== undefined && Object.hasOwn(setting.variants, is) ? setting.variants[is] : undefined
  if (settings === undefined) {
    const suggestion = is === undefined ? undefined : closestName(is, names)
    const remedy = suggestion ? `did you mean ${suggestion}?` : setting.remedy
    return wrong({ ...setting, ...(remedy && { remedy }) }, named ?? raw, at, `expected ${expected}`)
  }
  return { is, ...checkSettings(settings, map, at, 'provider') }
}

function missing(setting: Setting, at: Place, expected: string): undefined {
  const name = environmentName(at.path)
  const remedy = setting.remedy ?? `add it to the file, or set ${name}`
  at.problems.push({ path: at.path, where: at.parent.where, description: `missing; expected ${expected}`, remedy })
}

function wrong(setting: { readonly remedy?: string }, raw: Raw, at: Place, description: string): undefined {
  const { remedy } = setting
  at.problems.push({ path: at.path, where: raw.origin.where, description, ...(remedy && { remedy }) })
}

function nameOf(raw: Raw): string {
  return { text: 'a text', list: 'a list', map: 'settings by name' }[raw.type]
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}
