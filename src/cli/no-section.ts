import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { configFile } from '../config/load.ts'
import { CliError, exit } from './exit.ts'

/** For a side that is to run and is not configured: where was looked, and where an example is. */
export function noSection(side: 'operator' | 'platform', file: string | undefined): CliError {
  const looked = configFile(file, process.env)
  // The same path from src/cli and from dist/cli.
  const example = fileURLToPath(new URL('../../examples/bellwire.yaml', import.meta.url))
  const missing = existsSync(looked)
    ? `${looked} has no section ${side}`
    : `there is no ${looked}, and so no section ${side}: name your configuration with --config`
  return new CliError(exit.usage, existsSync(example) ? `${missing}. An example is in ${example}` : missing)
}
