import { Command } from 'commander'
import { loadConfig } from '../config/load.ts'
import { printConfig, redacted } from '../config/print.ts'
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
      if (json) console.log(JSON.stringify(check ? { ok: true } : redacted(config)))
      else console.log(check ? 'The configuration is right.' : printConfig(config).trimEnd())
    })
}
