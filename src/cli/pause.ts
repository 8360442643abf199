// Clients of the platform's /admin: pause and resume lanes while they run.

import { Command } from 'commander'
import {
  type LaneCommandOptions,
  noteOf,
  postToPlatform,
  type Targeted,
  targetOf,
  withNote,
  withPlatform,
  withTarget,
} from './lanes/platform-client.ts'
import { phraseLanes } from './lanes/show-lanes.ts'

type Options = LaneCommandOptions & Targeted & { readonly activity?: string; readonly action?: string }

export function pauseCommand(): Command {
  return withPlatform(withNote(withPart(withTarget(new Command()))), 'manage')
    .addHelpText('after', pauseHelp)
    .action(async (lane: string | undefined, options: Options & { reason: string; for?: number }) => {
      const body = { ...targetOf(lane, options), ...partOf(options), ...noteOf(options) }
      const answer = await postToPlatform(options, '/admin/lanes/pause', body)
      console.log(options.json ? JSON.stringify(answer) : phraseLanes(answer.lanes))
    })
}

const pauseHelp = `
Running calls end, and no other call starts. Messages can still be enqueued; they wait. The pause survives a restart.
With --activity or --action, the other messages of the lane are still sent.

Examples:
  bellwire pause 1/push --reason "the operator migrates" --for 2h
  bellwire pause --brand 1 --reason "wrong campaign"
  bellwire pause 1/push --activity 7 --reason "wrong text"
`

export function resumeCommand(): Command {
  return withPlatform(withPart(withTarget(new Command())), 'manage')
    .addHelpText('after', resumeHelp)
    .action(async (lane: string | undefined, options: Options) => {
      const target = { ...targetOf(lane, options), ...partOf(options) }
      const answer = await postToPlatform(options, '/admin/lanes/resume', target)
      if (options.json) return console.log(JSON.stringify(answer))
      if (answer.ended === 0) console.log(`${phraseTarget(target)} was not paused.`)
      console.log(phraseLanes(answer.lanes))
    })
}

const resumeHelp = `
A lane stays paused while its brand is paused: resume the brand, too. A paused activity or action is resumed by its id.

Examples:
  bellwire resume 1/push
  bellwire resume --brand 1
  bellwire resume 1/push --activity 7
`

const withPart = (command: Command): Command =>
  command
    .option('--activity <id>', 'only the messages of this activity_id')
    .option('--action <id>', 'only the messages of this action_id')

const partOf = ({ activity, action }: Options) => ({ activity, action })

interface Target {
  readonly lane?: string
  readonly brand?: string
  readonly activity?: string | undefined
  readonly action?: string | undefined
}

function phraseTarget({ lane, brand, activity, action }: Target): string {
  const scope = lane === undefined ? `brand ${brand}` : `lane ${lane}`
  if (activity !== undefined) return `Activity ${activity} of ${scope}`
  if (action !== undefined) return `Action ${action} of ${scope}`
  return `${scope[0]?.toUpperCase()}${scope.slice(1)}`
}
