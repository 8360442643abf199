// Clients of the platform's /admin: pause and resume lanes while they run.

import { Command } from 'commander'
import type { Static } from 'typebox'
import type { AnswerOf } from '../../sides/admin/calls.ts'
import { PauseBody, ResumeBody } from '../../sides/admin/requests.ts'
import { type Pause, phraseLanes } from './lanes/show-lanes.ts'
import { noteFlags, reasonFlags, targetFlags, targetOf, withLane } from './lanes/target.ts'
import { membersOf, withMembers } from './members.ts'
import { print, toJson } from './output.ts'
import { type Addressed, callSide, sideOfLanes, withAnswer } from './running-side.ts'

const partFlags = { ...targetFlags, activity: '--activity <id>', action: '--action <id>' }
const pauseFlags = { ...partFlags, ...noteFlags }
const resumeFlags = { ...partFlags, now: '--now', ...reasonFlags }

export function command(): Command {
  return withMembers(withLane(withAnswer(new Command(), 'platform', 'decide')), PauseBody, pauseFlags)
    .addHelpText('after', pauseHelp)
    .action(async (lane: string | undefined, options: Addressed & Static<typeof PauseBody>) => {
      const body = { ...membersOf(options, pauseFlags), ...targetOf(lane, options) }
      const answer = await callSide(await sideOfLanes(options), options, 'decide', 'POST /admin/lanes/pause', { body })
      print(options, answer, ({ lanes }) => phraseLanes(lanes))
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
  return withMembers(withLane(withAnswer(new Command(), 'platform', 'decide')), ResumeBody, resumeFlags)
    .addHelpText('after', resumeHelp)
    .action(async (lane: string | undefined, options: Addressed & Static<typeof ResumeBody>) => {
      const body = { ...membersOf(options, resumeFlags), ...targetOf(lane, options) }
      const answer = await callSide(await sideOfLanes(options), options, 'decide', 'POST /admin/lanes/resume', { body })
      if (options.json) return console.log(toJson(answer))
      for (const line of phraseResumed(body, answer)) console.log(line)
      console.log(phraseLanes(answer.lanes))
    })
}

function phraseResumed(
  target: Static<typeof ResumeBody>,
  { ended, tried, lanes }: AnswerOf<'platform', 'POST /admin/lanes/resume'>,
): string[] {
  if (tried && tried.length > 0) return [`Trying now: ${tried.join(', ')}.`]
  if (ended !== 0) return []
  const others = lanes.flatMap((lane) => lane.pauses.map((pause) => phraseResume(lane.name, pause)))
  const held = !tried && lanes.some(({ state }) => state === 'held')
  return [
    `${phraseTarget(target)} was not ${tried ? 'held' : 'paused'}.`,
    ...others.map((command) => `Still paused. To resume: ${command}`),
    ...(held ? ['It is held: add --now to try now.'] : []),
  ]
}

function phraseResume(lane: string, { scope, activity, action }: Pause): string {
  const part = activity !== undefined ? ` --activity ${activity}` : action !== undefined ? ` --action ${action}` : ''
  return `bellwire resume ${scope === 'brand' ? `--brand ${lane.split('/', 1)[0]}` : lane}${part}`
}

const resumeHelp = `
A lane stays paused while its brand is paused: resume the brand, too. A paused activity or action is resumed by its id.

Examples:
  bellwire resume 1/push
  bellwire resume --brand 1
  bellwire resume 1/push --activity 7
  bellwire resume 1/push --now
`

function phraseTarget({ lane, brand, activity, action }: Static<typeof ResumeBody>): string {
  const scope = lane === undefined ? `brand ${brand}` : `lane ${lane}`
  if (activity !== undefined) return `Activity ${activity} of ${scope}`
  if (action !== undefined) return `Action ${action} of ${scope}`
  return `${scope[0]?.toUpperCase()}${scope.slice(1)}`
}
