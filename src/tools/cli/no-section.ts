import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { configFile } from '../../sides/config/load.ts'
import { CliError, exit } from './exit.ts'

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
