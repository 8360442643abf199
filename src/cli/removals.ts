// A client of the operator's /admin: what the removal brake stopped, and the confirmation that lets it go on.

import { Command, Option } from 'commander'
import { shortPatience, withOperator, withOperatorClient } from './devices/operator-client.ts'
import { exit } from './exit.ts'
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
  readonly lately: { readonly removals: number; readonly sends: number }
}

export function removalsCommand(): Command {
  return new Command()
    .addCommand(listCommand(), { isDefault: true })
    .addCommand(confirmCommand())
    .addHelpText('after', help)
}

const help = `
When a push service says of very many devices that they are dead, none is removed any more until a person looked: perhaps it is
the credential that is wrong. Meanwhile no message is lost.

Examples:
  bellwire removals
  bellwire removals confirm fcm
  bellwire removals confirm fcm --for 4h
`

function listCommand(): Command {
  const command = new Command('list').description(
    'each push service, and whether its removals were stopped (the default)',
  )
  return withOperator(command, 'read', shortPatience)
    .option('--json', 'print the answer as one JSON object')
    .action(async (options: RemovalsOptions) => {
      const answer = await withOperatorClient(options, 'read', say, (client) => client.get('/admin/devices/removals'))
      const { services } = answer as { services: readonly Listed[] }
      if (options.json) console.log(JSON.stringify(answer))
      else if (services.length === 0) console.log('Nothing was sent lately, and nothing is stopped.')
      else for (const service of services) console.log(phrase(service))
      // A script may check whether a person has to decide.
      process.exitCode = services.some(({ stopped }) => stopped) ? exit.failed : exit.ok
    })
}

function confirmCommand(): Command {
  return withOperator(new Command('confirm').description('let the removals go on'), 'manage', shortPatience)
    .argument('<service>', 'the push service, as the list shows it')
    .addOption(
      new Option('--for <time>', 'time in which removals are not counted').argParser(time).default(time('1h'), '1h'),
    )
    .option('--json', 'print the answer as one JSON object')
    .addHelpText('after', '\nExample:\n  bellwire removals confirm fcm --for 4h\n')
    .action(async (service: string, options: RemovalsOptions & { readonly for: number }) => {
      const minutes = options.for / 60_000
      const body = JSON.stringify({ service, for_minutes: minutes })
      const { answer } = await withOperatorClient(options, 'manage', say, (client) =>
        client.post('/admin/devices/removals/confirm', body),
      )
      console.log(
        options.json
          ? JSON.stringify(answer)
          : `${service}: dead devices are removed again, for ${minutes} min without counting.`,
      )
    })
}

const say = (text: string): void => console.error(text)

function phrase({ service, stopped, stopped_at: at, stopped_for: of, allowed_until: until, lately }: Listed): string {
  const count = `${lately.removals} removals in ${lately.sends} sends lately`
  if (!stopped)
    return `${service}: removing (${count}${until === undefined ? '' : `; confirmed until ${clock(until)}`})`
  const since = at === undefined ? '' : ` since ${clock(at)}`
  return `${service}: STOPPED${since}, after ${of?.removals} removals in ${of?.sends} sends. Look whether its credential is right, then: bellwire removals confirm ${service}`
}

const clock = (ms: number): string => new Date(ms).toISOString()
