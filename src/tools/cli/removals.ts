// A client of the operator's /admin: lists the stops of the removal brake, and confirms removals.

import { Command } from 'commander'
import type { Static } from 'typebox'
import { phraseCount } from '../../base/runtime/phrase-count.ts'
import type { AnswerOf } from '../../sides/admin/calls.ts'
import { RemovalConfirmation } from '../../sides/admin/requests.ts'
import { exit } from './exit.ts'
import { membersOf, withMembers } from './members.ts'
import { print } from './output.ts'
import { type Addressed, callSide, withAnswer } from './running-side.ts'
import { isoTime } from './text-table.ts'

type Listed = AnswerOf<'operator', 'GET /admin/devices/removals'>['services'][number]

export function command(): Command {
  return new Command()
    .addCommand(listCommand(), { isDefault: true })
    .addCommand(confirmCommand())
    .addHelpText('after', help)
}

const help = `
If a push service reports implausibly many devices as dead, removals stop until a person confirms them, because the credential may be
wrong. No message is lost meanwhile.

Examples:
  bellwire removals
  bellwire removals confirm fcm
  bellwire removals confirm fcm --for 4h
`

function listCommand(): Command {
  const command = new Command('list').description(
    'list the push services and whether their removals have stopped (the default)',
  )
  return withAnswer(command, 'operator', 'counts').action(async (options: Addressed) => {
    const answer = await callSide('operator', options, 'counts', 'GET /admin/devices/removals')
    print(
      options,
      answer,
      ({ services }) => services.map(phrase).join('\n') || 'No recent sends, and no stopped removals.',
    )
    // For scripts: exit code 1 means that a person must act.
    process.exitCode = answer.services.some(({ stopped }) => stopped) ? exit.failed : exit.ok
  })
}

const flags = { for_minutes: '--for <time>', reason: '--reason <text>' }

function confirmCommand(): Command {
  const command = withAnswer(new Command('confirm').description('resume the removals'), 'operator', 'decide')
  return withMembers(command, RemovalConfirmation, flags)
    .argument('<service>', 'the name of the push service')
    .addHelpText('after', '\nExample:\n  bellwire removals confirm fcm --for 4h\n')
    .action(async (service: string, options: Addressed & Static<typeof RemovalConfirmation>) => {
      const body = { ...membersOf(options, flags), service }
      const answer = await callSide('operator', options, 'decide', 'POST /admin/devices/removals/confirm', { body })
      print(
        options,
        answer,
        ({ for_minutes: minutes }) => `${service}: dead devices are removed again, without a limit for ${minutes} min.`,
      )
    })
}

function phrase({ service, stopped, stopped_at: at, stopped_for: of, allowed_until: until, recent }: Listed): string {
  const count = `${phraseCount(recent.removals, 'removal')} in ${phraseCount(recent.sends, 'send')} recently`
  if (!stopped)
    return `${service}: removing (${count}${until === undefined ? '' : `; confirmed until ${isoTime(until)}`})`
  const since = at === undefined ? '' : ` since ${isoTime(at)}`
  return `${service}: STOPPED${since}, after ${of?.removals} removals in ${of?.sends} sends. Check its credential, then run: bellwire removals confirm ${service}`
}
