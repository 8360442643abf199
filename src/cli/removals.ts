// A client of the operator's /admin: what the removal brake stopped, and the confirmation that lets it go on.

import { Argument, Command } from 'commander'
import { CliError, exit } from './exit.ts'
import { type Addressed, runningSide, withAddress } from './running-side.ts'

interface RemovalsOptions extends Addressed {
  readonly minutes: string
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
  return withAddress(
    new Command(),
    'operator',
    'a key with the scope read, to confirm manage; default: the first such key of the configuration',
  )
    .addArgument(new Argument('[what]', 'list, or confirm').choices(['list', 'confirm']).default('list'))
    .argument('[service]', 'confirm: the push service whose removals may go on')
    .option('--minutes <count>', 'confirm: for so long removals are not counted', '60')
    .option('--json', 'print the answer as one JSON object')
    .addHelpText('after', help)
    .action(async (what: 'list' | 'confirm', service: string | undefined, options: RemovalsOptions) => {
      if (what === 'list') return list(options)
      if (service === undefined)
        throw new CliError(exit.usage, 'confirm what? Name the push service, as the list shows it')
      await confirm(service, options)
    })
}

const help = `
When a push service says of very many devices that they are dead, none is removed any more until a person looked: perhaps it is
the credential that is wrong. Meanwhile no message is lost.

Examples:
  bellwire removals
  bellwire removals confirm fcm
  bellwire removals confirm fcm --minutes 240
`

async function list(options: RemovalsOptions): Promise<void> {
  const answer = (await ask('/admin/devices/removals', 'read', options)) as { services: readonly Listed[] }
  if (options.json) console.log(JSON.stringify(answer))
  else if (answer.services.length === 0) console.log('Nothing was sent lately, and nothing is stopped.')
  else for (const service of answer.services) console.log(phrase(service))
  // A script may ask whether somebody has to look.
  process.exitCode = answer.services.some(({ stopped }) => stopped) ? exit.failed : exit.ok
}

async function confirm(service: string, options: RemovalsOptions): Promise<void> {
  const minutes = Number(options.minutes)
  const body = { service, for_minutes: minutes }
  const answer = await ask('/admin/devices/removals/confirm', 'manage', options, body)
  console.log(
    options.json
      ? JSON.stringify(answer)
      : `${service}: dead devices are removed again, for ${minutes} min without counting.`,
  )
}

function phrase({ service, stopped, stopped_at: at, stopped_for: of, allowed_until: until, lately }: Listed): string {
  const count = `${lately.removals} removals in ${lately.sends} sends lately`
  if (!stopped) return `${service}: removing (${count}${until === undefined ? '' : `; confirmed until ${time(until)}`})`
  const since = at === undefined ? '' : ` since ${time(at)}`
  return `${service}: STOPPED${since}, after ${of?.removals} removals in ${of?.sends} sends. Look whether its credential is right, then: bellwire removals confirm ${service}`
}

const time = (ms: number): string => new Date(ms).toISOString()

async function ask(path: string, scope: 'read' | 'manage', options: RemovalsOptions, body?: object): Promise<unknown> {
  const { url, key } = await runningSide('operator', options, [scope])
  const response = await fetch(`${url.replace(/\/+$/, '')}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { 'x-api-key': key },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(30_000),
  }).catch((error: Error) => {
    throw new CliError(
      exit.unreachable,
      `${url} does not answer (${error.message}). Is the operator running, and is --url right?`,
    )
  })
  const answer = (await response.json().catch(() => ({}))) as { error?: string }
  if (response.ok) return answer
  const why =
    response.status === 404 ? 'it does not push to devices (operator.push.devices)' : (answer.error ?? 'nothing more')
  throw new CliError(
    response.status >= 500 ? exit.unreachable : exit.usage,
    `${url}${path} answers ${response.status}: ${why}`,
  )
}
