import { styleText } from 'node:util'
import { Command, Option } from 'commander'
import { escapeControls } from '../../base/runtime/log-text.ts'
import { redactSecrets } from '../../base/runtime/redact-secrets.ts'
import { secretsOf } from '../../sides/config/print.ts'
import { ConfigError } from '../../sides/config/problem.ts'
import { withConfig } from './config-option.ts'
import type { Finding } from './doctor/part.ts'
import { exit } from './exit.ts'
import { loadSides } from './no-section.ts'
import { brandNumber } from './numbers.ts'
import { toJson } from './output.ts'
import { timeOption } from './time.ts'

interface DoctorOptions {
  readonly config?: string
  readonly timeout: number
  readonly send?: string
  readonly brand?: string
  readonly channel: 'push' | 'site'
  readonly title: string
  readonly metricsFile?: string
  readonly strict?: true
  readonly json?: true
}

export function command(): Command {
  return withConfig(new Command())
    .addOption(timeOption('--timeout <time>', 'timeout of each check, or of the message', '10s'))
    .option('--strict', 'exit with code 1 if there are warnings')
    .option('--json', 'print the findings as one JSON object')
    .option(
      '--send <user>',
      'instead of the checks: send one message to this test user, and wait until it is delivered',
    )
    .option('--brand <number>', 'with --send: the brand of the user; default: the only brand', brandNumber)
    .addOption(new Option('--channel <channel>', 'with --send: the channel').choices(['push', 'site']).default('push'))
    .option('--title <text>', 'with --send: the title', 'Canary')
    .option('--metrics-file <file>', 'with --send: write the result for the textfile collector of node_exporter')
    .addHelpText('after', help)
    .action(async (options: DoctorOptions) => {
      const { config: file, timeout, strict, json, send: user } = options
      if (user !== undefined) {
        process.exitCode = await runCanary(user, options)
        return
      }
      const { findings, secrets } = await checkConfiguration(file, timeout)
      const problems = findings.filter(({ ok }) => !ok).length
      const warnings = findings.filter(({ ok, warning }) => ok && warning).length
      const ok = problems === 0 && !(strict && warnings > 0)
      const text = json
        ? JSON.stringify({ ok, problems, warnings, findings })
        : `${findings.map(phrase).join('\n')}\n\n${conclusion(problems, warnings)}`
      // The answer of another server may contain a secret: mask all secrets before printing.
      const output = `${redactSecrets(text, secrets)}\n`
      process.exitCode = ok ? exit.ok : exit.failed
      // Exits even if a check still hangs.
      process.stdout.write(output, (failed) => failed ?? process.exit())
    })
}

async function runCanary(user: string, { timeout: timeoutMs, metricsFile, json, ...options }: DoctorOptions) {
  const { sendCanary, writeMetrics } = await import('./doctor/canary.ts')
  const result = await sendCanary({ ...options, user, timeoutMs })
  const { ok, through, activity_id: id, seconds, error = '' } = result
  if (json) console.log(toJson(result))
  else if (ok)
    console.log(`${styleText('green', '✓')} message ${id} was delivered through the ${through} in ${seconds} s`)
  else
    console.log(
      `${styleText('red', '✗')} message ${id} was not delivered through the ${through}: ${escapeControls(error)}`,
    )
  // If the file cannot be written, the person has read the result.
  if (metricsFile !== undefined) await writeMetrics(metricsFile, result)
  return ok ? exit.ok : exit.failed
}

async function checkConfiguration(
  file: string | undefined,
  timeoutMs: number,
): Promise<{ findings: readonly Finding[]; secrets: readonly string[] }> {
  try {
    const config = await loadSides(file)
    const [{ partsOf }, { checkAll }, { proxyVariables }, { secretFiles }] = await Promise.all([
      import('./doctor/parts.ts'),
      import('./doctor/part.ts'),
      import('./doctor/proxy-variables.ts'),
      import('./doctor/secret-files.ts'),
    ])
    const valid: Finding = { setting: 'configuration', ok: true, description: 'all settings are valid' }
    const environment = [secretFiles(file, config, process.env), proxyVariables(config, process.env)]
    const parts = [...environment, ...(await partsOf(config))]
    return { findings: [valid, ...(await checkAll(parts, timeoutMs))], secrets: secretsOf(config) }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const findings = error.problems.map(({ path, where, description, remedy }) => ({
      setting: path || 'configuration',
      ok: false,
      description: where === '' ? description : `${where}: ${description}`,
      ...(remedy !== undefined && { remedy }),
    }))
    return { findings, secrets: [] }
  }
}

function phrase({ ok, warning, setting, description, remedy }: Finding): string {
  const mark = !ok ? styleText('red', '✗') : warning ? styleText('yellow', '!') : styleText('green', '✓')
  const advice = remedy !== undefined && (!ok || warning) ? `\n    ${remedy}` : ''
  return `${mark} ${setting}: ${description}${advice}`
}

function conclusion(problems: number, warnings: number): string {
  const problemCount = problems === 0 ? 'No problems' : problems === 1 ? 'One problem' : `${problems} problems`
  if (warnings === 0) return `${problemCount}.`
  return `${problemCount}, ${warnings === 1 ? 'one warning' : `${warnings} warnings`}.`
}

const help = `
Checks the configuration and all that it names: settings, stores, whether each side runs, providers (address, certificate, credentials,
clock), the operators of the lanes (address, key), attribute sources. It sends no messages and changes nothing, so it is safe to run
beside running servers.

With --send it is a canary: it sends one real message to a test user, through the platform of the configuration if there is one, or else to
its operator, and waits until the provider accepted it.

Exit codes: 0 no problems, or the message was delivered, 1 problems, or with --strict warnings, 2 wrong usage.

Examples:
  bellwire doctor
  bellwire doctor --send 1001 --metrics-file /var/lib/node_exporter/bellwire-canary.prom
  bellwire doctor --config /etc/bellwire.yaml --json
`
