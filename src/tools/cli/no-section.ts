import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { configFile, loadConfig } from '../../sides/config/load.ts'
import type { Config } from '../../sides/config/table.ts'
import { CliError, exit } from './exit.ts'

/** Reads the configuration. @throws CliError if it has no side */
export async function loadSides(file: string | undefined): Promise<Config> {
  const config = await loadConfig(file)
  if (config.operator || config.platform) return config
  throw new CliError(
    exit.usage,
    'no section operator or platform is configured; check that this folder has a bellwire.yaml, or give --config',
  )
}

/** The error for a side without configuration. It names the file that was read, and an example. */
export function noSection(side: 'operator' | 'platform', file: string | undefined): CliError {
  const path = configFile(file, process.env)
  // The path is the same from src/tools/cli and from dist/cli.
  const example = fileURLToPath(new URL('../../../examples/bellwire.yaml', import.meta.url))
  const missing = existsSync(path)
    ? `${path} has no section ${side}`
    : `${path} does not exist: give your configuration with --config`
  return new CliError(exit.usage, existsSync(example) ? `${missing}. For an example see ${example}` : missing)
}
