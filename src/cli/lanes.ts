// A client of the platform's /admin: lists the lanes with their controls, and changes settings of a running lane.

import { Command, InvalidArgumentError, Option } from 'commander'
import { CliError, exit } from './exit.ts'
import { phraseLanes, settingLabels } from './lanes/show-lanes.ts'
import { type Note, noteOf, withNote } from './lanes/target.ts'
import { print } from './output.ts'
import { type Addressed, callSide, withAnswer } from './running-side.ts'
import { time } from './time.ts'

export function lanesCommand(): Command {
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
  return withAnswer(command, 'platform', 'read').action(async (options: Addressed) => {
    const answer = await callSide('platform', options, 'read', 'GET /admin/lanes')
    print(options, answer, ({ lanes }) => phraseLanes(lanes))
  })
}

interface Settings {
  readonly mode?: 'single' | 'batch'
  readonly max?: number
  readonly span?: number
  readonly concurrency?: number
  readonly perSecond?: number
}

function setCommand(): Command {
  const command = new Command('set')
    .description('change settings of a running lane, in place of the configuration')
    .argument('<lane>', 'the name of the lane, such as 1/push')
    .addOption(new Option('--mode <mode>', 'one message or a batch in a request').choices(['single', 'batch']))
    .addOption(new Option('--max <number>', 'the most messages in a batch').argParser(whole))
    .addOption(
      new Option('--span <time>', 'a batch is sent when its first message has waited this long').argParser(time),
    )
    .addOption(new Option('--concurrency <number>', 'the most concurrent requests').argParser(whole))
    .addOption(new Option('--per-second <number>', 'the most messages per second').argParser(whole))
  return withAnswer(withNote(command), 'platform', 'manage')
    .addHelpText(
      'after',
      '\nExample:\n  bellwire lanes set 1/push --mode single --reason "to find a bad message" --for 30min\n',
    )
    .action(async (lane: string, options: Addressed & Settings & Note) => {
      const { mode, max, span, concurrency, perSecond } = options
      const settings = { mode, max, span_ms: span, concurrency, per_second: perSecond }
      if (Object.values(settings).every((value) => value === undefined))
        throw new CliError(exit.usage, 'no setting is given: add --mode, --max, --span, --concurrency or --per-second')
      const body = { lane, settings, ...noteOf(options) }
      const answer = await callSide('platform', options, 'manage', 'POST /admin/lanes/settings', { body })
      print(options, answer, ({ lanes }) => phraseLanes(lanes))
    })
}

function resetCommand(): Command {
  const names = Object.values(settingLabels)
  const command = new Command('reset')
    .description('return settings of a lane to the configuration')
    .argument('<lane>', 'the name of the lane, such as 1/push')
    .argument('[settings...]', `${names.join(', ')}; default: all of them`)
  return withAnswer(command, 'platform', 'manage')
    .addHelpText('after', '\nExample:\n  bellwire lanes reset 1/push per-second\n')
    .action(async (lane: string, given: readonly string[], options: Addressed) => {
      const settings = given.map((label) => {
        const name = (Object.keys(settingLabels) as (keyof typeof settingLabels)[]).find(
          (each) => settingLabels[each] === label,
        )
        if (name === undefined) throw new CliError(exit.usage, `there is no setting ${label}: give ${names.join(', ')}`)
        return name
      })
      const body = { lane, ...(settings.length > 0 && { settings }) }
      const answer = await callSide('platform', options, 'manage', 'POST /admin/lanes/settings/reset', { body })
      if (answer.ended === 0 && !options.json)
        console.log(`Lane ${lane} already has the settings of the configuration.`)
      print(options, answer, ({ lanes }) => phraseLanes(lanes))
    })
}

function whole(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Give a whole number from 1.')
}
