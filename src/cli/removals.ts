// A client of the operator's /admin: lists the stops of the removal brake, and confirms removals.

import { Command, Option } from 'commander'
import { phraseCount } from '../runtime/phrase-count.ts'
import { shortPatience, withOperator, withOperatorClient } from './devices/operator-client.ts'
import { exit } from './exit.ts'
import { toJson } from './output.ts'
import type { Addressed } from './running-side.ts'
import { time } from './time.ts'

interface RemovalsOptions extends Addressed {
  readonly json?: true
}

interface Listed {
  readonly service: string
  readonly stopped: boolean
  readonly stopped_at?: number
  readonly stopped_for?: { readonly removals: number; readonly sends: number }
  readonly allowed_until?: number
  readonly confirmed_by?: string
  readonly recent: { readonly removals: number; readonly sends: number }
}

export function removalsCommand(): Command {
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
  return withOperator(command, 'read', shortPatience)
    .option('--json', 'print the answer as one JSON object')
    .action(async (options: RemovalsOptions) => {
      const answer = await withOperatorClient(options, 'read', log, (client) => client.get('/admin/devices/removals'))
      const { services } = answer as { services: readonly Listed[] }
      if (options.json) console.log(toJson(answer))
      else if (services.length === 0) console.log('No recent sends, and no stopped removals.')
      else for (const service of services) console.log(phrase(service))
      // For scripts: exit code 1 means that a person must act.
      process.exitCode = services.some(({ stopped }) => stopped) ? exit.failed : exit.ok
    })
}

function confirmCommand(): Command {
  return withOperator(new Command('confirm').description('resume the removals'), 'manage', shortPatience)
    .argument('<service>', 'the name of the push service')
    .addOption(
      new Option('--for <time>', 'how long removals are not limited').argParser(time).default(time('1h'), '1h'),
    )
    .option('--json', 'print the answer as one JSON object')
    .addHelpText('after', '\nExample:\n  bellwire removals confirm fcm --for 4h\n')
    .action(async (service: string, options: RemovalsOptions & { readonly for: number }) => {
      const minutes = options.for / 60_000
      const body = JSON.stringify({ service, for_minutes: minutes })
      const { answer } = await withOperatorClient(options, 'manage', log, (client) =>
        client.post('/admin/devices/removals/confirm', body),
      )
      console.log(
        options.json
          ? JSON.stringify(answer)
          : `${service}: dead devices are removed again, without a limit for ${minutes} min.`,
      )
    })
}

const log = (text: string): void => console.error(text)

function phrase({ service, stopped, stopped_at: at, stopped_for: of, allowed_until: until, recent }: Listed): string {
  const count = `${phraseCount(recent.removals, 'removal')} in ${phraseCount(recent.sends, 'send')} recently`
  if (!stopped)
    return `${service}: removing (${count}${until === undefined ? '' : `; confirmed until ${clock(until)}`})`
  const since = at === undefined ? '' : ` since ${clock(at)}`
  return `${service}: STOPPED${since}, after ${of?.removals} removals in ${of?.sends} sends. Check its credential, then run: bellwire removals confirm ${service}`
}

const clock = (ms: number): string => new Date(ms).toISOString()
