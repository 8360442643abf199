// The entry point bellwire/config: the options of a side from a configuration file, for a side in your own server.

import type { OperatorOptions } from '../operator/options.ts'
import type { PlatformOptions } from '../platform/options.ts'
import { operatorOptions, platformOptions } from './compose/compose.ts'
import { configFile, loadConfig } from './load.ts'
import { ConfigError } from './problem.ts'

/**
 * Reads the section `operator` of a configuration file, with the environment variables that override it (docs/settings.md).
 * Settings that only a command needs (`host`, `port`, `admin`, `connections`, `stop_within`) have no effect.
 *
 * @param file default: BELLWIRE_CONFIG, else bellwire.yaml in the working directory
 * @throws ConfigError with all problems at once
 * @example const operator = createOperator(await readOperatorOptions('bellwire.yaml'))
 */
export async function readOperatorOptions(file?: string): Promise<OperatorOptions> {
  const { operator } = await loadConfig(file)
  return operatorOptions(operator ?? missingSection('operator', file))
}

/**
 * Reads the section `platform` of a configuration file; otherwise like readOperatorOptions().
 *
 * @example const platform = createPlatform(await readPlatformOptions('bellwire.yaml'))
 */
export async function readPlatformOptions(file?: string): Promise<PlatformOptions> {
  const { platform } = await loadConfig(file)
  return platformOptions(platform ?? missingSection('platform', file))
}

function missingSection(side: 'operator' | 'platform', file: string | undefined): never {
  const where = configFile(file, process.env)
  throw new ConfigError([{ path: side, where, description: 'missing', remedy: `add the section ${side}: to the file` }])
}
