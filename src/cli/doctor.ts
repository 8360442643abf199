import { styleText } from 'node:util'
import { Command, Option } from 'commander'
import { loadConfig } from '../config/load.ts'
import { secretsOf } from '../config/print.ts'
import { ConfigError } from '../config/problem.ts'
import { redactSecrets } from '../runtime/redact-secrets.ts'
import { withConfig } from './config-option.ts'
import type { Finding } from './doctor/part.ts'
import { CliError, exit } from './exit.ts'
import { time } from './time.ts'

interface DoctorOptions {
  readonly config?: string
  readonly timeout: number
  readonly strict?: true
  readonly json?: true
}

export function doctorCommand(): Command {
  return withConfig(new Command())
    .addOption(
      new Option('--timeout <time>', 'how long a look at one part may take').argParser(time).default(10_000, '10s'),
    )
    .option('--strict', 'end with 1 also where there are only warnings')
    .option('--json', 'print what was found as one JSON object')
    .addHelpText('after', help)
    .action(async ({ config: file, timeout, strict, json }: DoctorOptions) => {
      const { findings, secrets } = await examine(file, timeout)
      const problems = findings.filter(({ ok }) => !ok).length
      const warnings = findings.filter(({ ok, warning }) => ok && warning).length
      const ok = problems === 0 && !(strict && warnings > 0)
      const text = json
        ? JSON.stringify({ ok, problems, warnings, findings })
        : `${findings.map(phrase).join('\n')}\n\n${conclusion(problems, warnings)}`
      // The last line of defence: whatever somebody else's answer repeated, it does not get out.
      const shown = `${redactSecrets(text, secrets)}\n`
      process.exitCode = ok ? exit.ok : exit.failed
      // What hangs must not hold the command when all has been said.
      process.stdout.write(shown, () => process.exit())
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
    const [{ partsOf }, { lookAtAll }, { secretFiles }] = await Promise.all([
      import('./doctor/parts.ts'),
      import('./doctor/part.ts'),
      import('./doctor/secret-files.ts'),
    ])
    const read: Finding = { setting: 'configuration', ok: true, what: 'every setting is known and right' }
    const parts = [secretFiles(file, config, process.env), ...(await partsOf(config))]
    return { findings: [read, ...(await lookAtAll(parts, withinMs))], secrets: secretsOf(config) }
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

function conclusion(problems: number, warnings: number): string {
  const counted = problems === 0 ? 'No problems' : problems === 1 ? 'One problem' : `${problems} problems`
  if (warnings === 0) return `${counted}.`
  return `${counted}, ${warnings === 1 ? 'one warning' : `${warnings} warnings`}.`
}

const help = `
Reads the configuration and looks at everything in it: settings, stores, whether each side runs, providers (address, certificate, credentials,
clock), the operators behind the lanes (address, key), sources of attributes. It sends no message and changes nothing, and may be run beside
running servers. Exit code 0: no problems; 1: there are some, or with --strict a warning.

Examples:
  bellwire doctor
  bellwire doctor --config /etc/bellwire.yaml --json
`
