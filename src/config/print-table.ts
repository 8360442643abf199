// Generates the settings reference of docs/running.md: `node src/config/print-table.ts --write` writes it between the markers.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { mayComeFromFile } from './environment.ts'
import { environmentName } from './environment-name.ts'
import type { Setting, Settings } from './setting.ts'
import { table } from './table.ts'

const begin = '<!-- settings: written by `node src/config/print-table.ts --write` -->'
const end = '<!-- end of settings -->'

/** One row of Markdown per setting: name, expected value, default, environment variable, description. */
export function settingsTable(): string {
  const sections = Object.entries(table.settings).map(([name, section]) => {
    const rows = rowsOf(section, name)
    return `### ${name}\n\n${section.help}\n\n| Setting | Expected | Default | Variable | |\n|---|---|---|---|---|\n${rows.join('\n')}`
  })
  return sections.join('\n\n')
}

/** The document with its settings reference updated. */
export function withSettings(document: string): string {
  const from = document.indexOf(begin)
  const to = document.indexOf(end)
  if (from < 0 || to < from) throw new Error(`the document lacks the lines ${begin} and ${end}`)
  return `${document.slice(0, from)}${begin}\n\n${settingsTable()}\n\n${document.slice(to)}`
}

function rowsOf(setting: Setting, path: string): string[] {
  switch (setting.type) {
    case 'leaf':
      return [row(path, setting.expected, setting)]
    case 'json':
      return [row(path, 'any JSON, as YAML', setting)]
    case 'list':
      return [row(path, 'a list', setting), ...(setting.of.type === 'leaf' ? [] : rowsOf(setting.of, `${path}[]`))]
    case 'group':
      return Object.entries(setting.settings).flatMap(([name, inner]) => rowsOf(inner, `${path}.${name}`))
    case 'variants': {
      const names = Object.keys(setting.variants).map((name) => `\`${name}\``)
      return [row(path, `one of ${names.join(', ')}`, setting), ...ofVariants(setting.variants, path)]
    }
  }
}

function ofVariants(variants: Readonly<Record<string, Settings>>, path: string): string[] {
  return Object.entries(variants).flatMap(([variant, settings]) =>
    Object.entries(settings).flatMap(([name, inner]) =>
      rowsOf(inner, `${path}.${name}`).map((line) => line.replace(/ \|$/, ` With \`${variant}\`. |`)),
    ),
  )
}

function row(path: string, expected: string, setting: Setting): string {
  const preset = setting.type === 'leaf' ? setting.default : undefined
  const hasMinimum = setting.type === 'list' && (setting.minItems ?? 0) > 0
  const required = preset === undefined && !setting.optional && (setting.type !== 'list' || hasMinimum)
  const shown = preset === undefined ? (required ? '**required**' : '–') : `\`${preset}\``
  const variable = `\`${environmentName(path.replaceAll('[]', '[0]'))}\`${mayComeFromFile(setting) ? ', `…_FILE`' : ''}`
  return `| \`${path}\` | ${expected} | ${shown} | ${variable} | ${setting.help} |`
}

if (import.meta.main) {
  const file = join(import.meta.dirname, '../../docs/running.md')
  if (process.argv.includes('--write')) writeFileSync(file, withSettings(readFileSync(file, 'utf8')))
  else process.stdout.write(`${settingsTable()}\n`)
}
