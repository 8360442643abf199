import { readFileSync } from 'node:fs'
import { environmentName } from './environment-name.ts'
import { closestName, type Problem } from './problem.ts'
import { emptyMap, type Raw } from './raw.ts'
import { readYaml } from './read-yaml.ts'
import { holdsSecret, type Setting, type Settings } from './setting.ts'

/** Variables that are not settings: the file itself, and what `bellwire send` takes in place of --url and --key. */
const ours = ['BELLWIRE_CONFIG', 'BELLWIRE_URL', 'BELLWIRE_KEY']

type Path = readonly (string | number)[]
interface Found {
  readonly path: Path
  readonly setting: Setting
  readonly fromFile: boolean
}

/**
 * Lays what the environment says over what the file says. A setting's variable is its path: BELLWIRE_OPERATOR_PORT. A list
 * or a group is written as YAML, its items are also reached by number: BELLWIRE_OPERATOR_KEYS_0_KEY. With _FILE behind the name of
 * a secret, the value is read from the file named. Unknown variables are refused: a typing error must not become a default.
 */
export function override(raw: Raw, table: Setting, env: NodeJS.ProcessEnv, problems: Problem[]): Raw {
  const found: (Found & { readonly name: string; readonly text: string })[] = []
  for (const [name, text] of given(env)) {
    const match = settingOf(name, table)
    if (match) found.push({ ...match, name, text })
    else problems.push(unknown(name, table))
  }
  // The list before its items, so that both can be given; by name, so that the order of the environment plays no part.
  found.sort((a, b) => a.path.length - b.path.length || (a.name < b.name ? -1 : 1))
  const seen = new Map<string, string>()
  for (const { name, path, setting, fromFile, text } of found) {
    const other = seen.get(path.join('.'))
    seen.set(path.join('.'), name)
    if (other !== undefined) {
      problems.push({ path: path.join('.'), where: name, what: `${other} says it too`, remedy: 'set only one of them' })
      continue
    }
    const value = fromFile ? readSecret(name, text, problems) : text
    if (value !== undefined) raw = put(raw, path, rawOf(setting, value, name, problems), name, problems)
  }
  return raw
}

/** The files that variables such as BELLWIRE_OPERATOR_KEYS_0_KEY_FILE name. */
export function secretFilesOf(table: Setting, env: NodeJS.ProcessEnv): readonly string[] {
  return given(env)
    .filter(([name]) => settingOf(name, table)?.fromFile)
    .map(([, file]) => file)
}

/** Variables that are meant to be settings, with their values. */
function given(env: NodeJS.ProcessEnv): [name: string, value: string][] {
  return Object.entries(env)
    .filter((entry): entry is [string, string] => Boolean(entry[1]))
    .filter(([name]) => name.startsWith('BELLWIRE_') && !name.startsWith('BELLWIRE_TEST_') && !ours.includes(name))
}

const settingOf = (name: string, table: Setting): Found | undefined =>
  find(table, name.slice('BELLWIRE_'.length).split('_'), [])

/** Which setting has this name? Names are matched part by part, as a setting's own name may have several. */
function find(setting: Setting, parts: readonly string[], path: Path): Found | undefined {
  if (parts.length === 0) return path.length > 0 ? { path, setting, fromFile: false } : undefined
  const below = findBelow(setting, parts, path)
  if (below) return below
  return parts.length === 1 && parts[0] === 'FILE' && mayComeFromFile(setting)
    ? { path, setting, fromFile: true }
    : undefined
}

function findBelow(setting: Setting, parts: readonly string[], path: Path): Found | undefined {
  if (setting.type === 'list') {
    const [index = '', ...rest] = parts
    return /^\d{1,4}$/.test(index) ? find(setting.of, rest, [...path, Number(index)]) : undefined
  }
  for (const [name, inner] of Object.entries(inside(setting))) {
    const words = name.toUpperCase().split(/[^A-Z0-9]/)
    if (!words.every((word, i) => word === parts[i])) continue
    const found = find(inner, parts.slice(words.length), [...path, name])
    if (found) return found
  }
  return undefined
}

/** A secret, or a list of things with secrets in them. */
export function mayComeFromFile(setting: Setting): boolean {
  return (setting.type === 'leaf' || setting.type === 'list') && holdsSecret(setting)
}

function inside(setting: Setting): Settings {
  if (setting.type === 'group') return setting.settings
  if (setting.type !== 'variants') return {}
  const provider: Setting = { type: 'leaf', expected: '', parse: (text) => text, says: '' }
  return Object.assign({ provider }, ...Object.values(setting.variants)) as Settings
}

function rawOf(setting: Setting, text: string, name: string, problems: Problem[]): Raw {
  const origin = { where: name, base: process.cwd() }
  if (setting.type === 'leaf') return { type: 'text', text, origin }
  return readYaml(text, name, origin.base, problems, false)
}

function readSecret(name: string, file: string, problems: Problem[]): string | undefined {
  try {
    return readFileSync(file, 'utf8').trimEnd()
  } catch (error) {
    const { message } = error as Error
    problems.push({
      path: '',
      where: name,
      what: `cannot be read: ${message}`,
      remedy: 'name a file that holds the secret',
    })
    return undefined
  }
}

function put(into: Raw, path: Path, value: Raw, name: string, problems: Problem[]): Raw {
  const [step, ...rest] = path
  if (step === undefined) return value
  const origin = value.origin
  if (typeof step === 'number') {
    const list: Raw = into.type === 'list' ? into : { type: 'list', items: [], origin }
    const before = list.items[step]
    if (step > list.items.length)
      problems.push({
        path: path.join('.'),
        where: name,
        what: `the list has only ${list.items.length} items`,
        remedy: 'count from 0, without a gap',
      })
    else list.items[step] = put(before ?? emptyMap(origin), rest, value, name, problems)
    return list
  }
  const map = into.type === 'map' ? into : emptyMap(origin)
  const before = map.entries.get(step)
  map.entries.set(step, {
    origin: before?.origin ?? origin,
    value: put(before?.value ?? emptyMap(origin), rest, value, name, problems),
  })
  return map
}

function unknown(name: string, table: Setting): Problem {
  const suggestion = closestName(name, names(table, '').concat(ours))
  return {
    path: '',
    where: name,
    what: 'there is no such setting',
    remedy: suggestion
      ? `did you mean ${suggestion}?`
      : 'docs/running.md lists them all; unset it if it is not for Bellwire',
  }
}

function names(setting: Setting, path: string): string[] {
  const own =
    path === '' ? [] : [environmentName(path), ...(mayComeFromFile(setting) ? [`${environmentName(path)}_FILE`] : [])]
  const below =
    setting.type === 'list'
      ? names(setting.of, `${path}_0`)
      : Object.entries(inside(setting)).flatMap(([name, inner]) => names(inner, path === '' ? name : `${path}_${name}`))
  return [...own, ...below]
}
