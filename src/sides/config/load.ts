import { readFile } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import { path } from '../../base/runtime/kinds.ts'
import { check } from './check.ts'
import { checkConsistency } from './check-consistency.ts'
import { applyEnvironment } from './environment.ts'
import { leavesOf } from './leaves.ts'
import { ConfigError, type Fault, type Problem } from './problem.ts'
import { applyProfiles } from './profiles/apply-profiles.ts'
import { checkProfiles } from './profiles/check-profiles.ts'
import { emptyMap, placeOf, type Raw } from './raw.ts'
import { readYaml } from './read-yaml.ts'
import { risksOf } from './risks.ts'
import { type Config, table } from './table.ts'

/**
 * Reads bellwire.yaml and the environment, validates all settings, and returns the frozen configuration.
 *
 * @param file default: BELLWIRE_CONFIG, else bellwire.yaml in the working directory if it exists, else the environment alone
 * @throws ConfigError with all problems at once
 * @example const { operator } = await loadConfig('bellwire.yaml')
 */
export async function loadConfig(file?: string, env: NodeJS.ProcessEnv = process.env): Promise<Config> {
  return (await readConfig(file, env)).config
}

/** A configuration with the places where its settings were written. */
export interface ReadConfig {
  readonly config: Config
  readonly raw: Raw
}

/** loadConfig() with the places of the settings. */
export async function readConfig(file?: string, env: NodeJS.ProcessEnv = process.env): Promise<ReadConfig> {
  const problems: Problem[] = []
  const written = await readConfigFile(
    configFile(file, env),
    (file ?? env.BELLWIRE_CONFIG) !== undefined,
    env,
    problems,
  )
  if (problems.length > 0) throw new ConfigError(problems)
  return validate(applyEnvironment(written, table, env, problems), problems)
}

async function validate(
  raw: Raw,
  problems: Problem[],
  further: (config: Config) => readonly Problem[] = () => [],
): Promise<ReadConfig> {
  const known = problems.length
  const profiled = await applyProfiles(raw, problems)
  // Without its profile a lane lacks settings, which would be further problems.
  if (problems.length > known) throw new ConfigError(problems)
  const config = check(table, raw, '', problems)
  if (problems.length === 0) problems.push(...further(config))
  if (problems.length === 0) {
    const faults = [...checkConsistency(config), ...checkProfiles(config, profiled), ...refusedRisks(config)]
    problems.push(...faults.map((fault) => ({ ...fault, where: placeOf(raw, fault.path) })))
  }
  if (problems.length > 0) throw new ConfigError(problems.toSorted((a, b) => lineOf(a) - lineOf(b)))
  return { config: freeze(config), raw }
}

/**
 * The configuration with lanes of the store after its own, as if they were written in it.
 *
 * @param lanes JSON: the settings of each
 * @throws ConfigError with all problems at once
 */
export async function withStoredLanes(read: ReadConfig, lanes: readonly string[]): Promise<ReadConfig> {
  const first = read.config.platform?.lanes.length ?? 0
  if (lanes.length === 0) return read
  const problems: Problem[] = []
  const items = lanes.map((lane) => readYaml(lane, 'store', process.cwd(), problems, { lines: false }))
  if (problems.length > 0) throw new ConfigError(problems)
  return validate(appendLanes(read.raw, items), problems, (config) => storedLaneProblems(config, read.raw, first))
}

function appendLanes(raw: Raw, items: readonly Raw[]): Raw {
  const platform = raw.type === 'map' ? raw.entries.get('platform') : undefined
  if (raw.type !== 'map' || platform?.value.type !== 'map') throw new Error('the configuration has no section platform')
  const lanes = platform.value.entries.get('lanes')
  const own = lanes?.value.type === 'list' ? lanes.value.items : []
  const { origin } = lanes ?? platform
  const value: Raw = { type: 'list', items: [...own, ...items], origin }
  const section: Raw = { ...platform.value, entries: new Map(platform.value.entries).set('lanes', { origin, value }) }
  return { ...raw, entries: new Map(raw.entries).set('platform', { ...platform, value: section }) }
}

/** A lane of the store is not in the configuration too, and names no file of this machine: it comes from a call. */
function storedLaneProblems(config: Config, raw: Raw, first: number): readonly Problem[] {
  const lanes = config.platform?.lanes ?? []
  const names = lanes.map(({ brand, channel }) => `${brand}/${channel}`)
  const twice = names.slice(first).flatMap((name, i): Problem[] => {
    const other = names.indexOf(name)
    if (other >= first) return []
    return [
      {
        path: `platform.lanes[${first + i}]`,
        where: 'store',
        description: `the lane ${name} is in the store, and also at ${placeOf(raw, `platform.lanes[${other}]`)}, platform.lanes[${other}]`,
        remedy: `keep it in one place: remove it from the configuration, or from the store: bellwire lanes remove ${name}`,
      },
    ]
  })
  const files = leavesOf(table, config).filter(
    ({ path: at, leaf }) =>
      Number(/^platform\.lanes\[(\d+)\]/.exec(at)?.[1] ?? -1) >= first && leaf.expected === path({ help: '' }).expected,
  )
  return [
    ...twice,
    ...files.map(({ path: at }) => ({
      path: at,
      where: 'store',
      description: 'a lane of the store names no file',
      remedy: 'write this lane into the configuration',
    })),
  ]
}

/** The path of the file that loadConfig() reads, if it exists. */
export const configFile = (file: string | undefined, env: NodeJS.ProcessEnv): string =>
  resolve(file ?? env.BELLWIRE_CONFIG ?? 'bellwire.yaml')

async function readConfigFile(
  file: string,
  required: boolean,
  env: NodeJS.ProcessEnv,
  problems: Problem[],
): Promise<Raw> {
  const base = dirname(file)
  try {
    const raw = readYaml(await readFile(file, 'utf8'), basename(file), base, problems, { env })
    return raw.type === 'text' && raw.text === '' ? emptyMap(raw.origin) : raw
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code !== 'ENOENT' || required)
      problems.push({
        path: '',
        where: file,
        description: `cannot be read: ${message}`,
        remedy: 'name the file with --config, or BELLWIRE_CONFIG',
      })
    return emptyMap({ where: '', base })
  }
}

function refusedRisks(config: Config): readonly Fault[] {
  return risksOf(config)
    .filter(({ risk }) => !config.acceptRisks.includes(risk))
    .map(({ risk, path, description, remedy }) => ({
      path,
      description,
      remedy: `${remedy}, or accept the risk with accept_risks: [${risk}]`,
    }))
}

/** The line of a problem in the file; 0 for problems from elsewhere, so that they come first. */
function lineOf({ where }: Problem): number {
  return Number(/:(\d+)$/.exec(where)?.[1] ?? 0)
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) freeze(inner)
    Object.freeze(value)
  }
  return value
}
