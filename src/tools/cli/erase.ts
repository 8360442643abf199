// A client of /admin/messages/erase of both sides: erases the texts of one user's messages.

import { Command } from 'commander'
import type { Static } from 'typebox'
import { phraseCount } from '../../base/runtime/phrase-count.ts'
import type { AnswerOf, SideName } from '../../sides/admin/calls.ts'
import { ErasedUser } from '../../sides/admin/requests.ts'
import { CliError, type ExitCode, exit } from './exit.ts'
import { membersOf, withMembers } from './members.ts'
import { print } from './output.ts'
import { type Addressed, calledSides, callSide, noSide, withAddress } from './running-side.ts'

type EraseOptions = Addressed & Static<typeof ErasedUser>

const flags = { brand: '--brand <number>', user_id: '--user <user_id>' }

/** The answer of a platform has `failed` and `waiting`. */
type Erased = AnswerOf<SideName, 'POST /admin/messages/erase'>

export function command(): Command {
  return withMembers(withAddress(new Command(), 'server', ['people']), ErasedUser, flags)
    .option('--json', 'print each answer as one JSON object per line')
    .addHelpText('after', help)
    .action(async (options: EraseOptions) => {
      process.exitCode = await erase(options)
    })
}

const help = `
Erased texts cannot be restored. Without --url, the command calls each side of the configuration. With --url, it calls that operator or
platform. Messages stay in the store without text, so a repetition is not sent again. A message that waits to be sent keeps its text:
repeat the command when it is sent.

Exit codes: 0 all texts erased, 1 some messages wait, 2 wrong usage, 3 a side cannot be reached.

Examples:
  bellwire erase --brand 1 --user 1001
  BELLWIRE_KEY=… bellwire erase --brand 1 --user 1001 --url https://platform.example
`

async function erase(options: EraseOptions): Promise<ExitCode> {
  const body = membersOf(options, flags)
  let code: ExitCode = exit.ok
  const sides = await calledSides(options)
  if (sides.length === 0) throw new CliError(exit.usage, noSide)
  for (const side of sides) {
    const erased: Erased = await callSide(side, options, 'people', 'POST /admin/messages/erase', { body })
    const called = 'waiting' in erased ? 'platform' : 'operator'
    print(options, { side: called, ...erased }, () => `${called}: ${phrase(erased)}`)
    if ('waiting' in erased && erased.waiting > 0) code = exit.failed
  }
  return code
}

function phrase(erased: Erased): string {
  const messages = phraseCount(erased.messages, 'message')
  const notifications = phraseCount(erased.notifications, 'notification')
  if (!('waiting' in erased))
    return `erased the texts of ${messages} in ${phraseCount(erased.requests, 'request')}, and ${notifications} in the inbox.`
  const { failed, waiting } = erased
  return [
    `erased the texts of ${messages}${erased.notifications > 0 ? `, and ${notifications} in the inbox` : ''}.`,
    ...(failed > 0 ? [`The ${phraseCount(failed, 'failed message')} among them can no longer be replayed.`] : []),
    ...(waiting > 0
      ? [`Not erased: ${phraseCount(waiting, 'message')} waiting to be sent. Repeat the command when none is waiting.`]
      : []),
  ].join(' ')
}
