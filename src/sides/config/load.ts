import { readFile } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import { check } from './check.ts'
import { checkConsistency } from './check-consistency.ts'
import { applyEnvironment } from './environment.ts'
import { fileRemedy } from './file-remedy.ts'
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

/** @param further finds problems beyond those of single settings */
export async function validate(
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
        remedy: fileRemedy(error, 'name the file with --config, or BELLWIRE_CONFIG'),
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
