// A client of the platform's /admin: lists the lanes with their controls, and changes settings of a running lane.

import { Command, InvalidArgumentError, Option } from 'commander'
import { CliError, exit } from './exit.ts'
import {
  type LaneAnswer,
  type LaneCommandOptions,
  noteOf,
  postToPlatform,
  withNote,
  withPlatform,
  withPlatformClient,
} from './lanes/platform-client.ts'
import { type ListedLane, phraseLanes, settingLabels } from './lanes/show-lanes.ts'
import { toJson } from './output.ts'
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
  return withPlatform(command, 'read').action(async (options: LaneCommandOptions) => {
    const answer = await withPlatformClient(options, 'read', (client) => client.get('/admin/lanes'))
    const { lanes } = answer as { lanes: readonly ListedLane[] }
    console.log(options.json ? toJson(answer) : phraseLanes(lanes))
  })
}

interface Settings {
  readonly mode?: string
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
  return withPlatform(withNote(command), 'manage')
    .addHelpText(
      'after',
      '\nExample:\n  bellwire lanes set 1/push --mode single --reason "to find a bad message" --for 30min\n',
    )
    .action(async (lane: string, options: LaneCommandOptions & Settings & { reason: string; for?: number }) => {
      const { mode, max, span, concurrency, perSecond } = options
      const settings = { mode, max, span_ms: span, concurrency, per_second: perSecond }
      if (Object.values(settings).every((value) => value === undefined))
        throw new CliError(exit.usage, 'no setting is given: add --mode, --max, --span, --concurrency or --per-second')
      print(options, await postToPlatform(options, '/admin/lanes/settings', { lane, settings, ...noteOf(options) }))
    })
}

function resetCommand(): Command {
  const names = Object.values(settingLabels)
  const command = new Command('reset')
    .description('return settings of a lane to the configuration')
    .argument('<lane>', 'the name of the lane, such as 1/push')
    .argument('[settings...]', `${names.join(', ')}; default: all of them`)
  return withPlatform(command, 'manage')
    .addHelpText('after', '\nExample:\n  bellwire lanes reset 1/push per-second\n')
    .action(async (lane: string, given: readonly string[], options: LaneCommandOptions) => {
      const settings = given.map((label) => {
        const name = Object.keys(settingLabels).find(
          (each) => settingLabels[each as keyof typeof settingLabels] === label,
        )
        if (name === undefined) throw new CliError(exit.usage, `there is no setting ${label}: give ${names.join(', ')}`)
        return name
      })
      const body = { lane, ...(settings.length > 0 && { settings }) }
      const answer = await postToPlatform(options, '/admin/lanes/settings/reset', body)
      if (answer.ended === 0 && !options.json)
        console.log(`Lane ${lane} already has the settings of the configuration.`)
      print(options, answer)
    })
}

function print({ json }: LaneCommandOptions, answer: LaneAnswer): void {
  console.log(json ? toJson(answer) : phraseLanes(answer.lanes))
}

function whole(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('Give a whole number from 1.')
}
