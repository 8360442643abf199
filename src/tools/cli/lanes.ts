// A client of the platform's /admin: lists the lanes with their controls, and changes settings of a running lane.

import { readFile } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { Command } from 'commander'
import type { Static } from 'typebox'
import type { AnswerOf } from '../../sides/admin/calls.ts'
import { LaneSettings, Note, ReasonBody, RemovedLane } from '../../sides/admin/requests.ts'
import { ConfigError, type Problem } from '../../sides/config/problem.ts'
import type { Raw } from '../../sides/config/raw.ts'
import { readYaml } from '../../sides/config/read-yaml.ts'
import { CliError, exit, refuseWith } from './exit.ts'
import { labelOf, phraseLanes } from './lanes/show-lanes.ts'
import { noteFlags, reasonFlags } from './lanes/target.ts'
import { membersOf, withMembers } from './members.ts'
import { print } from './output.ts'
import { type Addressed, callSide, sideOfLanes, withAnswer } from './running-side.ts'

export function command(): Command {
  return new Command()
    .addCommand(listCommand(), { isDefault: true })
    .addCommand(setCommand())
    .addCommand(resetCommand())
    .addCommand(addCommand())
    .addCommand(changeCommand())
    .addCommand(removeCommand())
    .addHelpText('after', help)
}

const help = `
A lane is the queue of one brand and channel. docs/lanes.md has the steps.

Examples:
  bellwire lanes
  bellwire lanes --json
  bellwire lanes set 1/push --per-second 50 --concurrency 2 --reason "the operator is slow" --for 2h
  bellwire lanes reset 1/push

add, change and remove are for lanes of the store, which need no change of the configuration and no restart.
  bellwire lanes add --file brand-7.yaml --reason "a new operator"
  bellwire lanes change 7/push --file change.yaml
  bellwire lanes remove 7/push --waiting keep
`

function listCommand(): Command {
  const command = new Command('list').description(
    'list the lanes, their waiting messages and their controls (the default)',
  )
  return withAnswer(command, 'platform', 'counts').action(async (options: Addressed) => {
    const answer = await callSide(await sideOfLanes(options), options, 'counts', 'GET /admin/lanes')
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
      const answer = await callSide(await sideOfLanes(options), options, 'decide', 'POST /admin/lanes/settings', {
        body,
      })
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
      const answer = await callSide(await sideOfLanes(options), options, 'decide', 'POST /admin/lanes/settings/reset', {
        body,
      })
      if (answer.ended === 0 && !options.json)
        console.log(`Lane ${lane} already has the settings of the configuration.`)
      print(options, answer, ({ lanes }) => phraseLanes(lanes))
    })
}

interface FileOptions extends Addressed, Static<typeof ReasonBody> {
  readonly file: string
}

const withFile = (command: Command): Command =>
  withMembers(withAnswer(command, 'platform', 'lanes'), ReasonBody, reasonFlags).requiredOption(
    '--file <file>',
    'a YAML file with the settings, as below platform.lanes; `${NAME}` and `${file:PATH}` are replaced here',
  )

function addCommand(): Command {
  return withFile(new Command('add'))
    .description('add a lane to the store of the running platform')
    .action(async (options: FileOptions) => {
      const body = { settings: await readSettings(options.file), ...membersOf(options, reasonFlags) }
      print(options, await callSide('platform', options, 'lanes', 'POST /admin/lanes/add', { body }), phraseStored)
    })
}

function changeCommand(): Command {
  return withFile(new Command('change'))
    .description('change settings of a lane of the store; `to` is replaced as a whole')
    .argument('<lane>', 'the name of the lane, such as 7/push')
    .action(async (lane: string, options: FileOptions) => {
      const body = { lane, settings: await readSettings(options.file), ...membersOf(options, reasonFlags) }
      print(options, await callSide('platform', options, 'lanes', 'POST /admin/lanes/change', { body }), phraseStored)
    })
}

function removeCommand(): Command {
  const flags = { ...reasonFlags, waiting: '--waiting <keep>' }
  const command = new Command('remove')
    .description('remove a lane from the store')
    .argument('<lane>', 'the name of the lane, such as 7/push')
  return withMembers(withAnswer(command, 'platform', 'lanes'), RemovedLane, flags).action(
    async (lane: string, options: Addressed & Omit<Static<typeof RemovedLane>, 'lane'>) => {
      const body = { lane, ...membersOf(options, flags) }
      const answer = await callSide('platform', options, 'lanes', 'POST /admin/lanes/remove', { body })
      print(options, answer, ({ waiting }) =>
        waiting === 0
          ? `Lane ${lane} is removed.`
          : `Lane ${lane} is removed. Its ${waiting} waiting messages wait until it is added again.`,
      )
    },
  )
}

/** @returns the settings as JSON, with the texts as they are written */
async function readSettings(file: string): Promise<Record<string, unknown>> {
  const text = await readFile(file, 'utf8').catch(refuseWith('--file cannot be read'))
  const problems: Problem[] = []
  const raw = readYaml(text, basename(file), dirname(file), problems, { env: process.env })
  if (problems.length > 0) throw new ConfigError(problems)
  if (raw.type !== 'map') throw new CliError(exit.usage, `${file} has no settings by name, such as brand: 7`)
  return jsonOf(raw) as Record<string, unknown>
}

function jsonOf(raw: Raw): unknown {
  if (raw.type === 'text') return raw.text === '' ? null : raw.text
  if (raw.type === 'list') return raw.items.map(jsonOf)
  return Object.fromEntries([...raw.entries].map(([name, { value }]) => [name, jsonOf(value)]))
}

const phraseStored = ({ lane, settings }: AnswerOf<'platform', 'POST /admin/lanes/add'>): string =>
  [`Lane ${lane}:`, ...Object.entries(settings).map(([name, value]) => `  ${name}: ${value}`)].join('\n')
