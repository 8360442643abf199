import { readFileSync } from 'node:fs'
import { holdsSecret, type Setting, type Settings } from '../../base/runtime/setting.ts'
import { environmentName } from './environment-name.ts'
import { fileRemedy } from './file-remedy.ts'
import { closestName, type Problem } from './problem.ts'
import { emptyMap, type Raw } from './raw.ts'
import { readYaml } from './read-yaml.ts'

/** Variables that are not settings: the path of the file, and the defaults of options such as --url and --key. */
const others = [
  'BELLWIRE_CONFIG',
  'BELLWIRE_URL',
  'BELLWIRE_KEY',
  'BELLWIRE_PROXY',
  'BELLWIRE_MOVE_TO',
  'BELLWIRE_OTHER_URL',
  'BELLWIRE_OTHER_KEY',
]

type Path = readonly (string | number)[]
interface Match {
  readonly path: Path
  readonly setting: Setting
  readonly fromFile: boolean
}

/**
 * Applies environment variables on top of the file. A setting's variable is its path: BELLWIRE_OPERATOR_PORT. A list or a group
 * is written as YAML; an item of a list is addressed by its index: BELLWIRE_OPERATOR_KEYS_0_KEY. With the suffix _FILE, a secret
 * is read from the named file. Unknown variables are refused, because a typing error must not go unnoticed.
 */
export function applyEnvironment(raw: Raw, table: Setting, env: NodeJS.ProcessEnv, problems: Problem[]): Raw {
  const matches: (Match & { readonly name: string; readonly text: string })[] = []
  for (const [name, text] of settingVariables(env)) {
    const match = findSetting(name, table)
    if (match) matches.push({ ...match, name, text })
    else problems.push(unknownVariable(name, table))
  }
  // A list before its items, so that both can be set; then by name, so that the result does not depend on the environment's order.
  matches.sort((a, b) => a.path.length - b.path.length || (a.name < b.name ? -1 : 1))
  const seen = new Map<string, string>()
  for (const { name, path, setting, fromFile, text } of matches) {
    const other = seen.get(path.join('.'))
    seen.set(path.join('.'), name)
    if (other !== undefined) {
      const description = `${other} sets the same setting`
      problems.push({ path: written(path), where: name, description, remedy: 'set only one of them' })
      continue
    }
    const value = fromFile ? readSecret(name, text, problems) : text
    if (value !== undefined) raw = setAt(raw, path, parseValue(setting, value, name, problems), name, problems, path)
  }
  return raw
}

/** The files named by variables such as BELLWIRE_OPERATOR_KEYS_0_KEY_FILE. */
export function secretFilesOf(table: Setting, env: NodeJS.ProcessEnv): readonly string[] {
  return settingVariables(env)
    .filter(([name]) => findSetting(name, table)?.fromFile)
    .map(([, file]) => file)
}

/** The variables that name settings, with their values. */
function settingVariables(env: NodeJS.ProcessEnv): [name: string, value: string][] {
  return Object.entries(env)
    .filter((entry): entry is [string, string] => Boolean(entry[1]))
    .filter(([name]) => name.startsWith('BELLWIRE_') && !name.startsWith('BELLWIRE_TEST_') && !others.includes(name))
}

const findSetting = (name: string, table: Setting): Match | undefined =>
  matchParts(table, name.slice('BELLWIRE_'.length).split('_'), [])

/** Matches a variable's name part by part, because the name of a setting may itself contain underscores. */
function matchParts(setting: Setting, parts: readonly string[], path: Path): Match | undefined {
  if (parts.length === 0) return path.length > 0 ? { path, setting, fromFile: false } : undefined
  const nested = matchNested(setting, parts, path)
  if (nested) return nested
  return parts.length === 1 && parts[0] === 'FILE' && mayComeFromFile(setting)
    ? { path, setting, fromFile: true }
    : undefined
}

function matchNested(setting: Setting, parts: readonly string[], path: Path): Match | undefined {
  if (setting.type === 'list') {
    const [index = '', ...rest] = parts
    return /^\d{1,4}$/.test(index) ? matchParts(setting.of, rest, [...path, Number(index)]) : undefined
  }
  for (const [name, inner] of Object.entries(childSettings(setting))) {
    const words = name.toUpperCase().split(/[^A-Z0-9]/)
    if (!words.every((word, i) => word === parts[i])) continue
    const match = matchParts(inner, parts.slice(words.length), [...path, name])
    if (match) return match
  }
  return undefined
}

/** Whether the suffix _FILE is allowed: for a secret, and for a list with secrets in its items. */
export function mayComeFromFile(setting: Setting): boolean {
  return (setting.type === 'leaf' || setting.type === 'list') && holdsSecret(setting)
}

function childSettings(setting: Setting): Settings {
  if (setting.type === 'group') return setting.settings
  if (setting.type !== 'variants') return {}
  const provider: Setting = { type: 'leaf', expected: '', parse: (text) => text, help: '' }
  return Object.assign({ provider }, ...Object.values(setting.variants)) as Settings
}

function parseValue(setting: Setting, text: string, name: string, problems: Problem[]): Raw {
  const origin = { where: name, base: process.cwd() }
  if (setting.type === 'leaf') return { type: 'text', text, origin }
  return readYaml(text, name, origin.base, problems, { lines: false })
}

function readSecret(name: string, file: string, problems: Problem[]): string | undefined {
  try {
    return readFileSync(file, 'utf8').trimEnd()
  } catch (error) {
    const { message } = error as Error
    problems.push({
      path: '',
      where: name,
      description: `cannot be read: ${message}`,
      remedy: fileRemedy(error, 'set it to the path of a file that contains the secret'),
    })
    return undefined
  }
}

/** @example written(['operator', 'keys', 0, 'key']) // 'operator.keys[0].key' */
const written = (path: Path): string =>
  path.map((step, i) => (typeof step === 'number' ? `[${step}]` : i === 0 ? step : `.${step}`)).join('')

function setAt(into: Raw, path: Path, value: Raw, name: string, problems: Problem[], whole: Path): Raw {
  const [step, ...rest] = path
  if (step === undefined) return value
  const origin = value.origin
  if (typeof step === 'number') {
    const list: Raw = into.type === 'list' ? into : { type: 'list', items: [], origin }
    const before = list.items[step]
    if (step > list.items.length)
      problems.push({
        path: written(whole),
        where: name,
        description: `the index ${step} leaves a gap: the list has ${list.items.length} items`,
        remedy: 'number the items from 0 without gaps',
      })
    else list.items[step] = setAt(before ?? emptyMap(origin), rest, value, name, problems, whole)
    return list
  }
  const map = into.type === 'map' ? into : emptyMap(origin)
  const before = map.entries.get(step)
  map.entries.set(step, {
    origin: before?.origin ?? origin,
    value: setAt(before?.value ?? emptyMap(origin), rest, value, name, problems, whole),
  })
  return map
}

function unknownVariable(name: string, table: Setting): Problem {
  const suggestion = closestName(name, variableNames(table, '').concat(others))
  return {
    path: '',
    where: name,
    description: 'unknown setting',
    remedy: suggestion
      ? `did you mean ${suggestion}?`
      : 'docs/settings.md lists all settings; unset the variable if it is not for Bellwire',
  }
}

function variableNames(setting: Setting, path: string): string[] {
  const own =
    path === '' ? [] : [environmentName(path), ...(mayComeFromFile(setting) ? [`${environmentName(path)}_FILE`] : [])]
  const nested =
    setting.type === 'list'
      ? variableNames(setting.of, `${path}_0`)
      : Object.entries(childSettings(setting)).flatMap(([name, inner]) =>
          variableNames(inner, path === '' ? name : `${path}_${name}`),
        )
  return [...own, ...nested]
}
