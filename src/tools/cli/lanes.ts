// A client of the platform's /admin: lists the lanes with their controls, and changes settings of a running lane.

import { Command } from 'commander'
import type { Static } from 'typebox'
import { LaneSettings, Note, ReasonBody } from '../../sides/admin/requests.ts'
import { CliError, exit } from './exit.ts'
import { labelOf, phraseLanes } from './lanes/show-lanes.ts'
import { noteFlags, reasonFlags } from './lanes/target.ts'
import { membersOf, withMembers } from './members.ts'
import { print } from './output.ts'
import { type Addressed, callSide, withAnswer } from './running-side.ts'

export function command(): Command {
  return new Command()
    .addCommand(listCommand(), { isDefault: true })
    .addCommand(setCommand())
    .addCommand(resetCommand())
    .addHelpText('after', help)
}

const help = `
A lane is the queue of one brand and channel. docs/lanes.md has the steps.

Examples:
  bellwire lanes
  bellwire lanes --json
  bellwire lanes set 1/push --per-second 50 --concurrency 2 --reason "the operator is slow" --for 2h
  bellwire lanes reset 1/push
`

function listCommand(): Command {
  const command = new Command('list').description(
    'list the lanes, their waiting messages and their controls (the default)',
  )
  return withAnswer(command, 'platform', 'counts').action(async (options: Addressed) => {
    const answer = await callSide('platform', options, 'counts', 'GET /admin/lanes')
    print(options, answer, ({ lanes }) => phraseLanes(lanes))
  })
}

const settingFlags = {
  mode: '--mode <mode>',
  max: '--max <number>',
  span_ms: '--span <time>',
  concurrency: '--concurrency <number>',
  per_second: '--per-second <number>',
}

function setCommand(): Command {
  const command = new Command('set')
    .description('change settings of a running lane, in place of the configuration')
    .argument('<lane>', 'the name of the lane, such as 1/push')
  return withMembers(
    withMembers(withAnswer(command, 'platform', 'decide'), LaneSettings, settingFlags),
    Note,
    noteFlags,
  )
    .addHelpText(
      'after',
      '\nExample:\n  bellwire lanes set 1/push --mode single --reason "to find a bad message" --for 30min\n',
    )
    .action(async (lane: string, options: Addressed & Static<typeof LaneSettings> & Static<typeof Note>) => {
      const settings = membersOf(options, settingFlags)
      if (Object.keys(settings).length === 0)
        throw new CliError(exit.usage, 'no setting is given: add --mode, --max, --span, --concurrency or --per-second')
      const body = { lane, settings, ...membersOf(options, noteFlags) }
      const answer = await callSide('platform', options, 'decide', 'POST /admin/lanes/settings', { body })
      print(options, answer, ({ lanes }) => phraseLanes(lanes))
    })
}

function resetCommand(): Command {
  const settings = Object.keys(settingFlags) as (keyof typeof settingFlags)[]
  const labels = settings.map(labelOf)
  const command = new Command('reset')
    .description('return settings of a lane to the configuration')
    .argument('<lane>', 'the name of the lane, such as 1/push')
    .argument('[settings...]', `${labels.join(', ')}; default: all of them`)
  return withMembers(withAnswer(command, 'platform', 'decide'), ReasonBody, reasonFlags)
    .addHelpText('after', '\nExample:\n  bellwire lanes reset 1/push per-second\n')
    .action(async (lane: string, given: readonly string[], options: Addressed & Static<typeof ReasonBody>) => {
      const unknown = given.find((each) => !labels.includes(each))
      if (unknown !== undefined)
        throw new CliError(exit.usage, `there is no setting ${unknown}: give ${labels.join(', ')}`)
      const named = settings.filter((name) => given.includes(labelOf(name)))
      const body = { lane, ...(named.length > 0 && { settings: named }), ...membersOf(options, reasonFlags) }
      const answer = await callSide('platform', options, 'decide', 'POST /admin/lanes/settings/reset', { body })
      if (answer.ended === 0 && !options.json)
        console.log(`Lane ${lane} already has the settings of the configuration.`)
      print(options, answer, ({ lanes }) => phraseLanes(lanes))
    })
}
