import { Command } from 'commander'
import type { AnswerOf, SideName } from '../../sides/admin/calls.ts'
import { configSchema } from '../../sides/config/config-schema.ts'
import { printConfig, redacted } from '../../sides/config/print.ts'
import { ConfigError } from '../../sides/config/problem.ts'
import type { Config } from '../../sides/config/table.ts'
import { loadSides } from './no-section.ts'
import { print } from './output.ts'
import { type Addressed, callSide, findSides, withAddress } from './running-side.ts'
import { textTable } from './text-table.ts'

interface Options extends Addressed {
  readonly check?: true
  readonly schema?: true
  readonly running?: true
}

export function command(): Command {
  return withAddress(new Command(), 'server', ['audit'])
    .option('--check', 'only check the configuration; the exit code is 0 if it is valid')
    .option(
      '--print',
      'print the effective configuration, with defaults and environment, without secrets (the default)',
    )
    .option('--running', 'print the settings of running sides with their sources; needs a key with the scope audit')
    .option('--json', 'print JSON')
    .option('--schema', 'print the JSON Schema of the file, for editors')
    .addHelpText(
      'after',
      '\nExamples:\n  bellwire config --check\n  BELLWIRE_OPERATOR_PORT=8080 bellwire config --print\n  bellwire config --schema > bellwire.schema.json\n  bellwire config --running\n',
    )
    .action(async (options: Options) => {
      const { config: file, check, json, schema, running } = options
      if (schema) return console.log(JSON.stringify(configSchema()))
      if (running) return printRunning(options)
      const config = await loadSides(file)
      if (!check) return console.log(json ? JSON.stringify(redacted(config)) : printConfig(config).trimEnd())
      await composeAll(config)
      console.log(json ? '{"ok":true}' : 'The configuration is valid.')
    })
}

async function printRunning(options: Options): Promise<void> {
  for (const side of await findSides(options))
    print(options, await callSide(side, options, 'audit', 'GET /admin/settings'), phraseSettings)
}

const phraseSettings = ({ settings }: AnswerOf<SideName, 'GET /admin/settings'>): string =>
  textTable(
    ['setting', 'value', 'source', 'after a restart'].map((title) => ({ title })),
    settings.map(({ setting, value, source, after_restart: next = '' }) => [setting, value, source, next]),
  )

/**
 * Builds the options of both sides as a start does, to check modules, credentials and files of users. It starts nothing.
 *
 * @throws ConfigError with the problems of both sides
 */
export async function composeAll({ operator, platform }: Config): Promise<void> {
  const [{ operatorOptions, platformOptions }, { serverCertificate }] = await Promise.all([
    import('../../sides/config/compose/compose.ts'),
    import('../../sides/config/compose/services/address.ts'),
  ])
  const composed = await Promise.allSettled([
    operator && operatorOptions(operator),
    platform && platformOptions(platform),
    serverCertificate(operator?.tls, 'operator.tls'),
    serverCertificate(platform?.tls, 'platform.tls'),
  ])
  // Exits even if a user's module left a handle open.
  setTimeout(() => process.exit(), 500).unref()
  const errors = composed.flatMap((each) => (each.status === 'rejected' ? [each.reason as Error] : []))
  const other = errors.find((error) => !(error instanceof ConfigError))
  if (other) throw other
  if (errors.length > 0) throw new ConfigError(errors.flatMap((error) => (error as ConfigError).problems))
}
