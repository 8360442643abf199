// Runs promtool of Prometheus, and evaluates the alert rules over metrics.

import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { parse, stringify } from 'yaml'
import { promtoolService } from '../support/services/debian-programs.ts'
import { run } from '../support/services/program.ts'
import { addressOf, without } from '../support/services/service.ts'
import { temporary } from '../support/sides.ts'

export const deploy = join(import.meta.dirname, '../../deploy')
export const rulesFile = join(deploy, 'prometheus/rules.yml')

export interface Rule {
  readonly alert: string
  readonly expr: string
  readonly annotations: Readonly<Record<'summary' | 'runbook' | 'command', string>>
}

export const rules: readonly Rule[] = parse(readFileSync(rulesFile, 'utf8')).groups.flatMap(
  ({ rules }: { rules: Rule[] }) => rules,
)

/** The reason to skip a test, or false. */
export const withoutPromtool = (): Promise<string | false> => without(promtoolService)

export const promtool = async (...args: string[]): Promise<string> => run(await addressOf(promtoolService), args)

/** A test as promtool reads it. */
export interface RuleTest {
  readonly name: string
  readonly interval: '1m'
  readonly input_series: readonly { readonly series: string; readonly values: string }[]
  readonly alert_rule_test?: readonly object[]
  readonly promql_expr_test?: readonly object[]
}

/** Rejects with the differences. */
export async function testRules(t: TestContext, tests: readonly RuleTest[]): Promise<void> {
  const file = join(await temporary(t), 'tests.yml')
  await writeFile(file, stringify({ rule_files: [rulesFile], tests }))
  await promtool('test', 'rules', file)
}

/** The alerts that fire if the metrics stay as they are. @param text as /metrics answers */
export function firing(name: string, text: string, alerts: readonly string[]): RuleTest {
  const samples = [...text.matchAll(/^(bellwire_\S*?(?:\{.*\})?) (\S+)$/gm)]
  return {
    name,
    interval: '1m',
    input_series: samples.map(([, series = '', value = '']) => ({ series, values: `_x5 ${value}+0x30` })),
    promql_expr_test: [
      {
        expr: 'group by (alertname) (ALERTS{alertstate="firing"})',
        eval_time: '30m',
        exp_samples: alerts.map((alert) => ({ labels: `{alertname="${alert}"}`, value: 1 })),
      },
    ],
  }
}
