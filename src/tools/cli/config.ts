import { Command } from 'commander'
import { configSchema } from '../../sides/config/config-schema.ts'
import { loadConfig } from '../../sides/config/load.ts'
import { printConfig, redacted } from '../../sides/config/print.ts'
import { ConfigError } from '../../sides/config/problem.ts'
import type { Config } from '../../sides/config/table.ts'
import { withConfig } from './config-option.ts'
import { CliError, exit } from './exit.ts'

interface Options {
  readonly config?: string
  readonly check?: true
  readonly json?: true
  readonly schema?: true
}

export function command(): Command {
  return withConfig(new Command())
    .option('--check', 'only check the configuration; the exit code is 0 if it is valid')
    .option(
      '--print',
      'print the effective configuration, with defaults and environment, without secrets (the default)',
    )
    .option('--json', 'print JSON')
    .option('--schema', 'print the JSON Schema of the file, for editors')
    .addHelpText(
      'after',
      '\nExamples:\n  bellwire config --check\n  BELLWIRE_OPERATOR_PORT=8080 bellwire config --print\n  bellwire config --schema > bellwire.schema.json\n',
    )
    .action(async ({ config: file, check, json, schema }: Options) => {
      if (schema) return console.log(JSON.stringify(configSchema()))
      const config = await loadConfig(file)
      if (!config.operator && !config.platform)
        throw new CliError(
          exit.usage,
          'no section operator or platform is configured; check that this folder has a bellwire.yaml, or give --config',
        )
      if (!check) return console.log(json ? JSON.stringify(redacted(config)) : printConfig(config).trimEnd())
      await composeAll(config)
      console.log(json ? '{"ok":true}' : 'The configuration is valid.')
    })
}

/**
 * Builds the options of both sides as a start does, to check modules, credentials and files of users. It starts nothing.
 *
 * @throws ConfigError with the problems of both sides
 */
export async function composeAll({ operator, platform }: Config): Promise<void> {
  const { operatorOptions, platformOptions } = await import('../../sides/config/compose/compose.ts')
  const composed = await Promise.allSettled([
    operator && operatorOptions(operator),
    platform && platformOptions(platform),
  ])
  // Exits even if a user's module left a handle open.
  setTimeout(() => process.exit(), 500).unref()
  const errors = composed.flatMap((each) => (each.status === 'rejected' ? [each.reason as Error] : []))
  const other = errors.find((error) => !(error instanceof ConfigError))
  if (other) throw other
  if (errors.length > 0) throw new ConfigError(errors.flatMap((error) => (error as ConfigError).problems))
}
