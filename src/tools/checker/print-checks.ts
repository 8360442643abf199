// Generates the tables of docs/checks.md and docs/check-report.schema.json: `node src/tools/checker/print-checks.ts --write`.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type AnyCheck, type CheckGroup, ruleSetOf } from './check.ts'
import { operatorChecks } from './operator/checks.ts'
import { platformChecks } from './platform/checks.ts'
import { ReportSchema } from './report-schema.ts'

const begin = '<!-- checks: written by `node src/tools/checker/print-checks.ts --write` -->'
const end = '<!-- end of checks -->'

/** All checks in Markdown. */
export function checkTables(): string {
  return `## Checks of an operator\n\n${tablesOf(operatorChecks)}\n\n## Checks of a platform\n\n${tablesOf(platformChecks)}`
}

const tablesOf = (groups: readonly CheckGroup[]): string =>
  groups.map(({ title, checks }) => `### ${title}\n\n${head}\n${checks.map(row).join('\n')}`).join('\n\n')

/** The document with its tables updated. */
export function withChecks(document: string): string {
  const from = document.indexOf(begin)
  const to = document.indexOf(end)
  if (from < 0 || to < from) throw new Error(`the document lacks the lines ${begin} and ${end}`)
  return `${document.slice(0, from)}${begin}\n\n${checkTables()}\n\n${document.slice(to)}`
}

export const reportSchemaText = (): string => `${JSON.stringify(ReportSchema, null, 2)}\n`

const head = '| Check | Level | Reference | Rule |\n|---|---|---|---|'

function row(check: AnyCheck): string {
  const { id, level, section, row: openPoint, title, scenario, needs = [] } = check
  const reference = openPoint === undefined ? section : `${section}, [row ${openPoint}](open-points.md)`
  const all = [...(scenario.needs ?? []), ...needs]
  const preparation = all.length === 0 ? '' : ` *Needs: ${all.join(', ')}.*`
  const source = ruleSetOf(check) === 'vendor' ? ', vendor' : ''
  return `| \`${id}\` | ${level}${source} | ${reference} | ${cell(title + preparation)} |`
}

const cell = (text: string): string => text.replaceAll('|', '\\|')

if (import.meta.main) {
  const docs = join(import.meta.dirname, '../../../docs')
  if (process.argv.includes('--write')) {
    writeFileSync(join(docs, 'checks.md'), withChecks(readFileSync(join(docs, 'checks.md'), 'utf8')))
    writeFileSync(join(docs, 'check-report.schema.json'), reportSchemaText())
  } else process.stdout.write(`${checkTables()}\n`)
}
