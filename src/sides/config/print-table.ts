// Generates the tables of docs/settings.md: `node src/sides/config/print-table.ts --write` writes them between the markers.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Group, Setting, Settings } from '../../base/runtime/setting.ts'
import { chapters } from './settings-sections.ts'
import { table } from './table.ts'

const begin = '<!-- settings: written by `node src/sides/config/print-table.ts --write` -->'
const end = '<!-- end of settings -->'

/** A group has no row of its own. */
type Printed = Exclude<Setting, Group<Settings>>

/** A setting, its section, and the place to which its name in the table is relative: 'operator.push{http}'. */
interface Described {
  /** A variant is in braces: 'operator.push{devices}.devices.services[]{fcm}.apps'. */
  readonly path: string
  readonly place: string
  readonly section: string
  readonly setting: Printed
}

/** A setting in the table of its section. */
interface Entry {
  readonly name: string
  /** The place of the name, with the variants: 'operator.push{http}'. */
  readonly place: string
  readonly value: string
  readonly preset: string
  readonly help: string
}

/** All sections in Markdown. @throws if a setting belongs to no section */
export function settingsTables(all: readonly Described[] = withoutShared(describe(table))): string {
  const titles = Object.values(chapters).flatMap((sections) => Object.keys(sections))
  const lost = all.find(({ section }) => !titles.includes(section))
  if (lost) throw new Error(`${lost.path} belongs to no section: set \`section\` to a title of settings-sections.ts`)
  const printed = Object.entries(chapters).map(([chapter, sections]) => {
    const parts = Object.entries(sections).map(([title, about]) =>
      printSection(
        title,
        about,
        all.filter(({ section }) => section === title),
      ),
    )
    return `## ${chapter}\n\n${parts.join('\n\n')}`
  })
  return printed.join('\n\n')
}

/** The document with its tables updated. */
export function withSettings(document: string): string {
  const from = document.indexOf(begin)
  const to = document.indexOf(end)
  if (from < 0 || to < from) throw new Error(`the document lacks the lines ${begin} and ${end}`)
  return `${document.slice(0, from)}${begin}\n\n${settingsTables()}\n\n${document.slice(to)}`
}

/** Without the settings that platform.own shares with the operator. */
function withoutShared(all: readonly Described[]): readonly Described[] {
  const byPath = new Map(all.map(({ path, setting }) => [path, setting]))
  return all.filter(
    ({ path, setting }) =>
      byPath.get(path.replace(/^platform\.own\./, 'operator.')) !== setting || !path.startsWith('platform.own.'),
  )
}

const root = { path: '', parent: '', place: '', section: '' }

function describe(setting: Setting, at = root): Described[] {
  const { path } = at
  const place = setting.type === 'group' ? path : at.parent
  const own = setting.section === undefined ? at : { ...at, place, section: setting.section }
  const row = setting.type === 'group' ? [] : [{ ...own, setting }]
  const within = (settings: Settings, parent: string, as = own): Described[] =>
    Object.entries(settings).flatMap(([name, inner]) =>
      describe(inner, { ...as, parent, path: parent === '' ? name : `${parent}.${name}` }),
    )
  switch (setting.type) {
    case 'leaf':
    case 'json':
      return row
    case 'list':
      return setting.of.type === 'leaf' ? row : [...row, ...describe(setting.of, { ...own, path: `${path}[]` })]
    case 'group':
      return within(setting.settings, path)
    case 'variants': {
      const variants = Object.entries(setting.variants).flatMap(([name, of]) => {
        const parent = `${path}{${name}}`
        const section = typeof setting.sections === 'object' ? setting.sections[name] : setting.sections
        return within(of, parent, section === undefined ? own : { ...own, section, place: parent })
      })
      return [...row, ...variants]
    }
  }
}

function printSection(title: string, about: string, all: readonly Described[]): string {
  const entries = all.map(entryOf).toSorted((a, b) => Number(a.place !== '') - Number(b.place !== ''))
  const places = new Set(entries.map(({ place }) => place).filter((place) => place !== ''))
  const lines = [...Map.groupBy(entries, ({ name }) => name).values()].flatMap((named) => {
    const rows = Map.groupBy(named, ({ value, help }) => `${value}\n${help}`)
    return [...rows.values()].map((same) => printRow(same, places))
  })
  const head = '| Setting | Value | Default | Meaning |\n|---|---|---|---|'
  return `### ${title}\n\n${about}${placesLine(places)}\n\n${head}\n${lines.join('\n')}`
}

function entryOf({ path, place, setting }: Described): Entry {
  const preset = setting.type === 'leaf' ? setting.default : undefined
  const hasMinimum = setting.type === 'list' && (setting.minItems ?? 0) > 0
  const required = preset === undefined && !setting.optional && (setting.type !== 'list' || hasMinimum)
  return {
    name: withoutVariants(place === '' ? path : path.slice(place.length + 1)),
    place,
    value: kindOf(setting),
    preset: preset === undefined ? (required ? '**required**' : '–') : `\`${preset}\``,
    help: setting.help,
  }
}

/** The kind of value, short: the page explains times, sizes, paths, pointers and addresses once. */
function kindOf(setting: Printed): string {
  switch (setting.type) {
    case 'leaf':
      return `${setting.expected.replace(/, such as .*| with its unit: .*|, relative to .*| without user name.*/, '').replace(/^an? /, '')}${setting.secret ? ', secret' : ''}`
    case 'json':
      return 'any JSON, as YAML'
    case 'list':
      return setting.of.type === 'leaf' ? `list of: ${kindOf(setting.of)}` : 'list'
    case 'variants':
      return `one of ${Object.keys(setting.variants)
        .map((name) => `\`${name}\``)
        .join(', ')}`
  }
}

/** Names the places of a row only where they matter: if it is not in every place of the section, or its default differs. */
function printRow(same: readonly Entry[], places: ReadonlySet<string>): string {
  const [first] = same as [Entry, ...Entry[]]
  const groups = [...Map.groupBy(same, ({ preset }) => preset)]
  const here = new Set(same.map(({ place }) => place))
  const elsewhere = first.place === '' ? [] : [...places].filter((place) => !here.has(place))
  const label = labelFor([...groups.map(([, entries]) => entries.map(({ place }) => place)), elsewhere])
  const preset =
    groups.length === 1
      ? first.preset
      : groups.map(([text, entries]) => `${text} (${labels(entries, label)})`).join(', ')
  const only = elsewhere.length > 0 ? `${labels(same, label)}: ` : ''
  return `| \`${first.name}\` | ${first.value} | ${preset} | ${only}${first.help} |`
}

type Label = (place: string) => string

/** The shortest label that separates the groups: the variant, the side, or the path. */
function labelFor(groups: readonly (readonly string[])[]): Label {
  const variant: Label = (place) => /\{([^}]+)\}$/.exec(place)?.[1] ?? withoutVariants(place)
  const side: Label = (place) => /^\w+/.exec(place)?.[0] ?? ''
  const separates = (label: Label): boolean => {
    const sets = groups.map((group) => [...new Set(group.map(label))])
    return new Set(sets.flat()).size === sets.flat().length
  }
  return [variant, side].find(separates) ?? withoutVariants
}

function labels(entries: readonly Entry[], label: Label): string {
  return [...new Set(entries.map(({ place }) => `\`${label(place)}\``))].join(', ')
}

function placesLine(places: ReadonlySet<string>): string {
  if (places.size === 0) return ''
  const paths = [...new Set([...places].map((place) => `\`${withoutVariants(place)}\``))]
  const variants = new Set([...places].map((place) => /\{([^}]+)\}$/.exec(place)?.[1]))
  const [variant] = variants
  const provider = variants.size === 1 && variant !== undefined ? `, with \`provider: ${variant}\`` : ''
  return `\n\nIn ${paths.join(', ')}${provider}:`
}

function withoutVariants(path: string): string {
  return path.replaceAll(/\{[^}]+\}/g, '')
}

if (import.meta.main) {
  const file = join(import.meta.dirname, '../../../docs/settings.md')
  if (process.argv.includes('--write')) writeFileSync(file, withSettings(readFileSync(file, 'utf8')))
  else process.stdout.write(`${settingsTables()}\n`)
}
