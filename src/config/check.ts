import { environmentName } from './environment-name.ts'
import { closestName, type Problem } from './problem.ts'
import { emptyMap, type Origin, type Raw } from './raw.ts'
import { readJson } from './read-json.ts'
import type { Group, Leaf, List, Setting, Settings, ValueOf, Variants } from './setting.ts'

/**
 * Gives the value that was meant, with defaults filled in. What is wrong is added to `problems`; the value is then not usable.
 *
 * @param raw undefined: nothing was written
 */
export function check<S extends Setting>(
  setting: S,
  raw: Raw | undefined,
  path: string,
  problems: Problem[],
): ValueOf<S> {
  const nowhere = { where: '', base: process.cwd() }
  return checkAny(setting, raw, { path, around: raw?.origin ?? nowhere, problems }) as ValueOf<S>
}

interface At {
  readonly path: string
  /** Where the thing around it is written: the place to name when it is missing itself. */
  readonly around: Origin
  readonly problems: Problem[]
}

function checkAny(setting: Setting, raw: Raw | undefined, at: At): unknown {
  // An empty text is what `key:` with nothing behind it leaves: as good as not written.
  const given = raw?.type === 'text' && raw.text === '' ? undefined : raw
  if (given === undefined && setting.optional) return undefined
  switch (setting.type) {
    case 'leaf':
      return checkLeaf(setting, given, at)
    case 'json':
      return given === undefined ? missing(setting, at, 'a value') : readJson(given, at.path, at.problems)
    case 'list':
      return checkList(setting, given, at)
    case 'group':
      return checkGroup(setting, given, at)
    case 'variants':
      return checkVariants(setting, given, at)
  }
}

function checkLeaf(leaf: Leaf<unknown>, raw: Raw | undefined, at: At): unknown {
  if (raw === undefined) {
    if (leaf.default !== undefined) return leaf.parse(leaf.default, at.around.base)
    return missing(leaf, at, leaf.expected)
  }
  if (raw.type !== 'text') return wrong(leaf, raw, at, `expected ${leaf.expected}, found ${nameOf(raw)}`)
  const value = leaf.parse(raw.text, raw.origin.base)
  if (value !== undefined) return value
  // A secret is not repeated, not even a wrong one.
  return wrong(leaf, raw, at, `expected ${leaf.expected}${leaf.secret ? '' : `, found ${JSON.stringify(raw.text)}`}`)
}

function checkList(setting: List<Setting>, raw: Raw | undefined, at: At): unknown {
  if (raw !== undefined && raw.type !== 'list' && !setting.orOne)
    return wrong(setting, raw, at, `expected a list, found ${nameOf(raw)}`)
  const items = raw === undefined ? [] : raw.type === 'list' ? raw.items : [raw]
  if (items.length < (setting.least ?? 0)) return missing(setting, at, `at least ${setting.least} in the list`)
  return items.map((item, i) => checkAny(setting.of, item, { ...at, path: `${at.path}[${i}]`, around: item.origin }))
}

function checkGroup(setting: Group<Settings>, raw: Raw | undefined, at: At): unknown {
  if (raw !== undefined && raw.type !== 'map')
    return wrong(setting, raw, at, `expected settings by name, found ${nameOf(raw)}`)
  return checkSettings(setting.settings, raw ?? emptyMap(at.around), at)
}

function checkSettings(settings: Settings, raw: Raw & { type: 'map' }, at: At, alsoKnown?: string): object {
  for (const [name, { origin }] of raw.entries) {
    if (Object.hasOwn(settings, name) || name === alsoKnown) continue
    const known = Object.keys(settings)
    const suggestion = closestName(name, known)
    at.problems.push({
      path: join(at.path, name),
      where: origin.where,
      what: 'there is no such setting',
      remedy: suggestion ? `did you mean ${suggestion}?` : `there are: ${known.join(', ') || 'none'}`,
    })
  }
  const values: Record<string, unknown> = {}
  for (const [name, setting] of Object.entries(settings)) {
    const entry = raw.entries.get(name)
    const around = entry?.origin ?? at.around
    const value = checkAny(setting, entry?.value, { ...at, path: join(at.path, name), around })
    if (value !== undefined) values[name] = value
  }
  return values
}

function checkVariants(setting: Variants<Readonly<Record<string, Settings>>>, raw: Raw | undefined, at: At): unknown {
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

function missing(setting: Setting, at: At, expected: string): undefined {
  const name = environmentName(at.path)
  const remedy = setting.remedy ?? `add it, or set ${name}`
  at.problems.push({ path: at.path, where: at.around.where, what: `missing; expected ${expected}`, remedy })
}

function wrong(setting: { readonly remedy?: string }, raw: Raw, at: At, what: string): undefined {
  const { remedy } = setting
  at.problems.push({ path: at.path, where: raw.origin.where, what, ...(remedy && { remedy }) })
}

function nameOf(raw: Raw): string {
  return { text: 'a text', list: 'a list', map: 'settings by name' }[raw.type]
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}
