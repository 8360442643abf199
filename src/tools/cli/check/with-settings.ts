// Options that are settings of the file of `bellwire check … --file`: the setting gives their description, values and default.

import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Group, Leaf, List, Settings } from '../../../base/runtime/setting.ts'
import { phraseHelp } from '../members.ts'
import { commaSeparated } from './option-kinds.ts'

/** Adds an option for each of these settings: --batch-max for batch_max. */
export function withSettings<Of extends Settings>(
  command: Command,
  { settings }: Group<Of>,
  placeholders: { readonly [Name in keyof Of]?: string },
): Command {
  for (const [name, placeholder] of Object.entries(placeholders as Readonly<Record<string, string>>)) {
    const setting = settings[name] as Leaf<unknown> | List<Leaf<unknown>>
    const flags = `--${name.replaceAll('_', '-')} ${placeholder}`
    command.addOption(new Option(flags, helpOf(setting)).argParser((text) => parse(setting, text)))
  }
  return command
}

function helpOf(setting: Leaf<unknown> | List<Leaf<unknown>>): string {
  const help = phraseHelp(setting.help)
  if (setting.type === 'list') return `${help} (${setting.of.expected}, separated by commas)`
  return setting.default === undefined ? help : `${help}; default: ${setting.default}`
}

function parse(setting: Leaf<unknown> | List<Leaf<unknown>>, text: string): unknown {
  if (setting.type === 'list')
    return commaSeparated(text).map((part) => {
      const value = setting.of.parse(part, process.cwd())
      if (value === undefined) throw new InvalidArgumentError(`${part} is none of ${setting.of.expected}.`)
      return value
    })
  const value = setting.parse(text, process.cwd())
  if (value === undefined) throw new InvalidArgumentError(`Give ${setting.expected}.`)
  return value
}
