import { styleText } from 'node:util'
import { Command, InvalidArgumentError } from 'commander'
import { loadConfig } from '../config/load.ts'
import { secretsOf } from '../config/print.ts'
import { ConfigError } from '../config/problem.ts'
import { withoutSecrets } from '../runtime/without-secrets.ts'
import { withConfig } from './config-option.ts'
import type { Finding } from './doctor/part.ts'
import { CliError, exit } from './exit.ts'

export function doctorCommand(): Command {
  return withConfig(new Command())
    .option('--timeout <seconds>', 'how long a look at one part may take', seconds, 10)
    .option('--json', 'print what was found as one JSON object')
    .addHelpText('after', help)
    .action(async ({ config: file, timeout, json }: { config?: string; timeout: number; json?: true }) => {
      const { findings, secrets } = await examine(file, timeout * 1000)
      const problems = findings.filter(({ ok }) => !ok).length
      const text = json
        ? JSON.stringify({ ok: problems === 0, problems, findings })
        : `${findings.map(phrase).join('\n')}\n\n${conclusion(problems)}`
      // The last line of defence: whatever somebody else's answer repeated, it does not get out.
      const shown = `${withoutSecrets(text, secrets)}\n`
      // What hangs must not hold the command when all has been said.
      process.stdout.write(shown, () => process.exit(problems === 0 ? exit.ok : exit.failed))
    })
}

async function examine(
  file: string | undefined,
  withinMs: number,
): Promise<{ findings: readonly Finding[]; secrets: readonly string[] }> {
  try {
    const config = await loadConfig(file)
    if (!config.operator && !config.platform)
      throw new CliError(
        exit.usage,
        'nothing is configured: there is no section operator or platform, and perhaps no bellwire.yaml here',
      )
    const [{ partsOf }, { lookAtAll }] = await Promise.all([import('./doctor/parts.ts'), import('./doctor/part.ts')])
    const read: Finding = { setting: 'configuration', ok: true, what: 'every setting is known and right' }
    return { findings: [read, ...(await lookAtAll(await partsOf(config), withinMs))], secrets: secretsOf(config) }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const findings = error.problems.map(({ path, where, what, remedy }) => ({
      setting: path || 'configuration',
      ok: false,
      what: where === '' ? what : `${where}: ${what}`,
      ...(remedy !== undefined && { remedy }),
    }))
    return { findings, secrets: [] }
  }
}

function phrase({ ok, warning, setting, what, remedy }: Finding): string {
  const mark = !ok ? styleText('red', '✗') : warning ? styleText('yellow', '!') : styleText('green', '✓')
  const advice = remedy !== undefined && (!ok || warning) ? `\n    ${remedy}` : ''
  return `${mark} ${setting}: ${what}${advice}`
}

function conclusion(problems: number): string {
  if (problems === 0) return 'No problems.'
  return problems === 1 ? 'One problem.' : `${problems} problems.`
}

function seconds(text: string): number {
  const number = Number(text)
  if (number >= 0.1 && number <= 600) return number
  throw new InvalidArgumentError('It must be a number of seconds from 0.1 to 600.')
}

const help = `
Reads the configuration and looks at everything in it: settings, stores, whether each side runs, providers (address, certificate, credentials,
clock), the operators behind the lanes (address, key), sources of attributes. It sends no message and changes nothing, and may be run beside
running servers. Exit code 0: no problems; 1: there are some.

Examples:
  bellwire doctor
  bellwire doctor --config /etc/bellwire.yaml --json
`
