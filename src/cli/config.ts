import { Command } from 'commander'
import { loadConfig } from '../config/load.ts'
import { printConfig, redacted } from '../config/print.ts'
import { ConfigError } from '../config/problem.ts'
import type { Config } from '../config/table.ts'
import { withConfig } from './config-option.ts'
import { CliError, exit } from './exit.ts'

export function configCommand(): Command {
  return withConfig(new Command())
    .option('--check', 'only say whether it is right (the exit code says it too)')
    .option('--print', 'print it as it applies, defaults and environment included, without secrets (the default)')
    .option('--json', 'print it as JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  bellwire config --check\n  BELLWIRE_OPERATOR_PORT=8080 bellwire config --print\n',
    )
    .action(async ({ config: file, check, json }: { config?: string; check?: true; json?: true }) => {
      const config = await loadConfig(file)
      if (!config.operator && !config.platform)
        throw new CliError(
          exit.usage,
          'nothing is configured: there is no section operator or platform, and perhaps no bellwire.yaml here',
        )
      if (!check) return console.log(json ? JSON.stringify(redacted(config)) : printConfig(config).trimEnd())
      await composeAll(config)
      console.log(json ? '{"ok":true}' : 'The configuration is right.')
    })
}

/**
 * Puts both sides together as a start does, since modules, credentials and lists of users are files of their own. Nothing is
 * started.
 *
 * @throws ConfigError with the problems of both sides
 */
async function composeAll({ operator, platform }: Config): Promise<void> {
  const { operatorOptions, platformOptions } = await import('./compose.ts')
  const composed = await Promise.allSettled([
    operator && operatorOptions(operator),
    platform && platformOptions(platform),
  ])
  // Reached only where a module left something open: that must not hold the command.
  setTimeout(() => process.exit(), 500).unref()
  const errors = composed.flatMap((each) => (each.status === 'rejected' ? [each.reason as Error] : []))
  const other = errors.find((error) => !(error instanceof ConfigError))
  if (other) throw other
  if (errors.length > 0) throw new ConfigError(errors.flatMap((error) => (error as ConfigError).problems))
}
