// Options of commands that are members of a request to /admin. The schema of a member gives its description, values and bounds.

import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Static, TObject, TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { duration } from '../../base/runtime/kinds.ts'
import { describeExpected } from '../../contract/mismatch.ts'
import { wholeNumber } from './numbers.ts'
import { time } from './time.ts'

/**
 * Adds an option for each of these members. Its value has the name of the member.
 *
 * @param flags by the names of the members: { activity: '--activity <id>' }
 */
export function withMembers<Members extends TObject>(
  command: Command,
  members: Members,
  flags: Readonly<Partial<Record<keyof Static<Members>, string>>>,
): Command {
  const required: readonly string[] = members.required ?? []
  for (const [name, given] of Object.entries(flags as Readonly<Record<string, string>>)) {
    const option = new MemberOption(name, given, members.properties[name] as Schema)
    command.addOption(option.makeOptionMandatory(required.includes(name)))
  }
  return command
}

/** The members that the options give. */
export const membersOf = <Given extends object, Name extends keyof Given & string>(
  given: Given,
  flags: Readonly<Partial<Record<Name, string>>>,
): Pick<Given, Name> =>
  Object.fromEntries(Object.entries(given).filter(([name, value]) => name in flags && value !== undefined)) as never

type Schema = TSchema & {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly title?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly description?: string
}

class MemberOption extends Option {
  private readonly member: string

  constructor(member: string, flags: string, schema: Schema) {
    super(flags, helpOf(schema))
    this.member = member
    if (schema.enum) this.choices(schema.enum)
    else if (this.required) this.argParser(parserOf(member, schema))
  }

  override attributeName(): string {
    return this.member
  }
}

/** @example 'The lane, such as 1/push. Required for a key of brands.' becomes 'the lane, such as 1/push; required for a key of brands' */
export function phraseHelp(description: string): string {
  const sentences = description.replace(/\.$/, '').split('. ')
  return sentences.map((each) => `${each.charAt(0).toLowerCase()}${each.slice(1)}`).join('; ')
}

function helpOf({ description = '', title }: Schema): string {
  const help = phraseHelp(description)
  return title === moment ? `${help}; or ${ago}` : help
}

/** The title of a time in a request. */
const moment = 'a time'
const ago = 'how long ago: 2h'

const msOfUnit: Readonly<Record<string, number>> = { ms: 1, seconds: 1_000, minutes: 60_000 }

function parserOf(member: string, schema: Schema): (text: string) => unknown {
  const ms = msOfUnit[/[^_]*$/.exec(member)?.[0] ?? '']
  if (ms !== undefined)
    return (text) =>
      Math.max(schema.minimum ?? 0, schema.type === 'integer' ? Math.round(time(text) / ms) : time(text) / ms)
  if (schema.type === 'integer') return wholeNumber(schema.minimum ?? 0, schema.maximum)
  return (text) => {
    const value = schema.title === moment && !isValid(schema, text) ? timeAgo(text) : text
    return demandValid(schema, value ?? text)
  }
}

/** @example timeAgo('2h') // the time two hours ago */
function timeAgo(text: string): string | undefined {
  const ms = duration({ help: '' }).parse(text, '')
  return ms === undefined ? undefined : new Date(Date.now() - ms).toISOString()
}

const isValid = (schema: TSchema, value: unknown): boolean => Compile(schema).Check(value)

function demandValid<Value>(schema: TSchema, value: Value): Value {
  if (isValid(schema, value)) return value
  const expected = describeExpected(schema).replaceAll('"', '').replace(' as a string', '')
  throw new InvalidArgumentError(`Give ${expected}${(schema as Schema).title === moment ? `, or ${ago}` : ''}.`)
}
