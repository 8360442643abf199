// A client of /admin/messages of both sides, for the person who is asked what became of a message.

import { Command, Option } from 'commander'
import type { SideName } from '../../sides/admin/calls.ts'
import { CliError, exit, exitWith } from './exit.ts'
import { type Found, findMessages, readLife, type Search } from './explain/find.ts'
import { type Absences, phraseLife, phraseMatches } from './explain/show.ts'
import { addressesOf, type SideOptions, type Sides, withSides } from './explain/sides.ts'
import { interruptible } from './interruptible.ts'
import { wholeNumber } from './numbers.ts'
import { toJson } from './output.ts'
import { withAddress } from './running-side.ts'

interface ExplainOptions extends SideOptions {
  readonly brand?: string
  readonly by?: Search['by']
  readonly limit: number
}

export function command(): Command {
  return withOtherSide(withAddress(new Command(), 'server', ['counts', 'read']))
    .argument('<message>', 'an identifier (push_id or site_notification_id), an activity.id, or with --brand a user_id')
    .option('--brand <number>', 'the brand of the user')
    .addOption(
      new Option('--by <name>', 'what the argument is; default: the first that finds a message').choices([
        'ref',
        'id',
        'user',
      ]),
    )
    .option('--limit <count>', 'the most messages, the newest first', wholeNumber(1, 1_000), 10)
    .option('--json', 'print one JSON object')
    .addHelpText('after', help)
    .action(exitWith(explain))
}

/** Adds the options of the second side. */
export const withOtherSide = (command: Command): Command =>
  command
    .addOption(new Option('--other-url <url>', 'the URL of the other side').env('BELLWIRE_OTHER_URL'))
    .addOption(
      new Option(
        '--other-key <key>',
        'a key of the other side with the scopes counts and read. Prefer --other-key-file or the variable',
      ).env('BELLWIRE_OTHER_KEY'),
    )
    .option('--other-key-file <file>', 'read the key of the other side from this file')

const help = `
Shows every step that is stored: enqueued, calls, attempts, replays, the result at each device, the outcome. It never shows the text of
the message. Without --url, the command asks each side of the configuration. If a user has several messages, they are listed.

Exit codes: 0 found, 1 not found, 2 wrong usage, 3 a side was not reached.

Examples:
  bellwire explain 01a2093d-ef42-7000-8ede-84d711e61db2
  bellwire explain 1001 --by user --brand 1
  BELLWIRE_KEY=… BELLWIRE_OTHER_KEY=… bellwire explain 7 --url https://platform.example --other-url https://operator.example
`

/** Prints the life of a message. @returns the exit code */
export async function explain(message: string, options: ExplainOptions): Promise<number> {
  const searches = searchesOf(message, options)
  const addresses = await addressesOf(options)
  return interruptible('interrupted; it is safe to repeat the command', (signal) =>
    withSides(addresses, options.patience, signal, async ({ sides, errors }) => {
      for (const { message: error } of errors) console.error(`bellwire: a side is left out: ${error}`)
      const found = await findMessages(sides, searches)
      if (!found) throw new CliError(errors[0]?.exitCode ?? exit.failed, phraseNotFound(message, options, sides))
      await print(found, options, sides, errors.length > 0)
      return errors[0]?.exitCode ?? exit.ok
    }),
  )
}

function searchesOf(value: string, { by, brand }: ExplainOptions): readonly Search[] {
  if (by === 'user' && brand === undefined) throw new CliError(exit.usage, '--by user needs the brand: add --brand')
  const searches: Search[] = [
    { by: 'ref', value },
    { by: 'id', value },
    ...(brand === undefined ? [] : [{ by: 'user' as const, brand, value }]),
  ]
  return searches.filter((search) => by === undefined || search.by === by)
}

async function print(
  { search, matches, more }: Found,
  { limit: most, json }: ExplainOptions,
  sides: Sides,
  isIncomplete: boolean,
): Promise<void> {
  const shown = matches.slice(0, most)
  const total = `${matches.length}${more ? ' or more' : ''}`
  if (search.by === 'user' && matches.length > 1) {
    if (json) return console.log(toJson({ total: matches.length, more, found: shown }))
    console.log(phraseMatches(shown))
    console.log(
      `The newest ${shown.length} of ${total} messages. For the life of one, give its IDENTIFIER or its ACTIVITY.ID; for more lines, --limit`,
    )
    return
  }
  const lives = await Promise.all(shown.map((match) => readLife(sides, match)))
  if (json) return console.log(toJson({ total: matches.length, more, messages: lives }))
  const absences = absencesOf(sides, isIncomplete)
  console.log(lives.map((life) => phraseLife(life, absences)).join('\n\n'))
  if (shown.length < matches.length)
    console.log(`\nThe newest ${shown.length} of ${total} messages: give an IDENTIFIER, or --limit`)
}

function absencesOf(sides: Sides, isIncomplete: boolean): Absences {
  const absenceOf = (name: SideName): string => {
    if (sides[name]) return 'has no such message'
    return isIncomplete ? 'was not reached' : 'was not asked: give --other-url and BELLWIRE_OTHER_KEY'
  }
  return { platform: absenceOf('platform'), operator: absenceOf('operator') }
}

function phraseNotFound(value: string, { by, brand }: ExplainOptions, sides: Sides): string {
  const asked = Object.keys(sides)
  const kinds = {
    ref: 'identifier',
    id: 'activity.id',
    user: `user_id (brand ${brand})`,
  }
  const tried: readonly Search['by'][] = by ? [by] : ['ref', 'id', ...(brand === undefined ? [] : ['user' as const])]
  const missing = (['platform', 'operator'] as const).find((name) => !sides[name])
  const remedies = [
    `Messages are deleted after the time of the setting keep (default 90 days)`,
    'a key that is bound to brands sees only their messages',
    ...(tried.includes('user') ? ['a message to an erased user is found by its identifier'] : []),
    ...(brand === undefined && by === undefined ? ['for a user_id, add --brand'] : []),
    ...(missing ? [`the ${missing} was not asked: give its address with --other-url`] : []),
  ]
  return `${asked.map((name) => `the ${name}`).join(' and ')} ${asked.length > 1 ? 'have' : 'has'} no message with the ${tried.map((each) => kinds[each]).join(' or ')} ${value}. ${remedies.join('; ')}`
}
