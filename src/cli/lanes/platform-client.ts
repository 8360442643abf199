import { type Command, Option } from 'commander'
import type { Scope } from '../../http/access.ts'
import type { Client } from '../client.ts'
import { CliError, exit } from '../exit.ts'
import { type Addressed, withAddress, withSide } from '../running-side.ts'
import { time } from '../time.ts'
import type { ListedLane } from './show-lanes.ts'

export interface LaneCommandOptions extends Addressed {
  readonly json?: true
}

/** Adds the options --url and --key of the running platform, --config and --json. */
export const withPlatform = (command: Command, scope: Scope): Command =>
  withAddress(
    command,
    'platform',
    `a key with the scope ${scope}; default: the first such key of platform.keys`,
    '10s',
  ).option('--json', 'print the answer as one JSON object')

/** Runs the work with a client of the running platform. Ctrl-C aborts it. */
export function withPlatformClient<T>(
  options: Addressed,
  scope: Scope,
  work: (client: Client, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const session = {
    scopes: [scope],
    notify: (text: string): void => console.error(text),
    interrupted: 'interrupted; bellwire lanes shows the state of the lanes',
  }
  return withSide('platform', options, session, work)
}

export interface Targeted {
  readonly brand?: string
}

/** Adds the argument and the option that name one lane, or all lanes of a brand. */
export const withTarget = (command: Command): Command =>
  command
    .argument('[lane]', 'the name of the lane, such as 1/push')
    .option('--brand <number>', 'all lanes of the brand, instead of one lane')

/** The members of a request body that name the lanes. */
export function targetOf(lane: string | undefined, { brand }: Targeted): { lane?: string; brand?: string } {
  if ((lane === undefined) === (brand === undefined))
    throw new CliError(
      exit.usage,
      'name either a lane, such as 1/push, or --brand NUMBER: bellwire lanes lists the lanes',
    )
  return lane === undefined ? { brand: brand as string } : { lane }
}

interface Note {
  readonly reason: string
  readonly for?: number
}

/** Adds the options --reason and --for of a change. */
export const withNote = (command: Command): Command =>
  command
    .requiredOption('--reason <text>', 'why, for the next person')
    .addOption(new Option('--for <time>', 'end the change automatically after this time').argParser(time))

/** The reason and the expiry in a request body. */
export const noteOf = ({ reason, for: ms }: Note) => ({
  reason,
  ...(ms !== undefined && { for_seconds: Math.max(1, Math.round(ms / 1_000)) }),
})

export interface LaneAnswer {
  readonly lanes: readonly ListedLane[]
  /** How many controls a command has ended. */
  readonly ended?: number
  /** The held lanes that send their next message now. */
  readonly tried?: readonly string[]
}

/** Sends a change of lanes to the running platform. */
export const postToPlatform = (options: Addressed, path: string, body: object): Promise<LaneAnswer> =>
  withPlatformClient(options, 'manage', async (client) => {
    const { answer } = await client.post(path, JSON.stringify(body))
    return answer as LaneAnswer
  })
