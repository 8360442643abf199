// A real Prometheus with the configuration and the alert rules of the package.

import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { parse, stringify } from 'yaml'
import { freePort } from '../../test/support/free-port.ts'
import { promtoolService } from '../../test/support/services/debian-programs.ts'
import { startServer } from '../../test/support/services/program.ts'
import { addressOf } from '../../test/support/services/service.ts'

type Labels = Readonly<Record<string, string>>

export interface Prometheus {
  /** @returns the labels and the value of each series */
  query(expression: string): Promise<readonly { readonly labels: Labels; readonly value: number }[]>
  /** The labels of each alert that fires. */
  firing(): Promise<readonly Labels[]>
  /** The errors of rules. */
  ruleErrors(): Promise<readonly string[]>
  stop(): Promise<void>
}

export interface PrometheusOptions {
  readonly folder: string
  /** The addresses of `admin` of the sides. */
  readonly sides: readonly string[]
  /** The address at which node_exporter would serve the file of the canary. */
  readonly node: string
  /** By this the durations in the rules are divided, and the time between two scrapes. */
  readonly divisor: number
}

const deploy = join(import.meta.dirname, '../../deploy/prometheus')
/** Between two scrapes and two evaluations, before the division. */
const intervalMs = 15_000

export async function startPrometheus({ folder, sides, node, divisor }: PrometheusOptions): Promise<Prometheus> {
  const own = join(folder, `prometheus-${divisor}`)
  await mkdir(own)
  const interval = `${intervalMs / divisor}ms`
  const config = parse(readFileSync(join(deploy, 'prometheus.yml'), 'utf8')) as {
    scrape_configs: { job_name: string }[]
  }
  const [ofSides] = config.scrape_configs
  const scrapes = [
    { ...ofSides, static_configs: [{ targets: sides }] },
    { job_name: 'node', static_configs: [{ targets: [node] }] },
  ]
  const global = { scrape_interval: interval, scrape_timeout: interval, evaluation_interval: interval }
  await writeFile(join(own, 'prometheus.yml'), stringify({ ...config, global, scrape_configs: scrapes }))
  await writeFile(join(own, 'rules.yml'), divideDurations(readFileSync(join(deploy, 'rules.yml'), 'utf8'), divisor))
  const port = await freePort()
  const server = await startServer({
    program: join(dirname(await addressOf(promtoolService)), 'prometheus'),
    args: [
      `--config.file=${join(own, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(own, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    folder: own,
    ready: /Server is ready to receive web requests/,
  })

  async function get<Data>(path: string): Promise<Data> {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`, { signal: AbortSignal.timeout(30_000) })
    const { data, error } = (await response.json()) as { data: Data; error?: string }
    if (error !== undefined) throw new Error(`${path}: ${error}`)
    return data
  }
  return {
    async query(expression) {
      const { result } = await get<{ result: { metric: Labels; value: [number, string] }[] }>(
        `query?query=${encodeURIComponent(expression)}`,
      )
      return result.map(({ metric, value }) => ({ labels: metric, value: Number(value[1]) }))
    },
    async firing() {
      const { alerts } = await get<{ alerts: { state: string; labels: Labels }[] }>('alerts')
      return alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels)
    },
    async ruleErrors() {
      const { groups } = await get<{ groups: { rules: { name: string; lastError?: string }[] }[] }>('rules')
      return groups.flatMap(({ rules }) =>
        rules.filter(({ lastError }) => lastError).map(({ name, lastError }) => `${name}: ${lastError}`),
      )
    },
    stop: () => server.end(),
  }
}

interface Rules {
  readonly groups: readonly { readonly rules: { expr: string; for?: string }[] }[]
}

/**
 * Divides the times after which a rule fires: `for`, ranges, offsets, and limits in seconds.
 *
 * @example divideDurations('… expr: max(a_seconds) > 300 …', 10) // max(a_seconds) > 30
 */
export function divideDurations(text: string, divisor: number): string {
  if (divisor === 1) return text
  const rules = parse(text) as Rules
  const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 }
  const divided = (duration: string): string =>
    duration.replace(/(\d+)([smh])/, (_, count, unit) => `${(Number(count) * (units[unit] as number)) / divisor}ms`)
  for (const rule of rules.groups.flatMap((group) => group.rules)) {
    if (rule.for !== undefined) rule.for = divided(rule.for)
    rule.expr = rule.expr
      .replace(/\[\w+\]|offset \w+/g, divided)
      .replace(/(seconds\)) > (\d+)/g, (_, before, limit) => `${before} > ${Number(limit) / divisor}`)
  }
  return stringify(rules)
}
