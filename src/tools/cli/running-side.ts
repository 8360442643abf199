import { readFile } from 'node:fs/promises'
import { type Command, Option } from 'commander'
import type { Scope } from '../../base/http/access.ts'
import { isProxyUrl } from '../../base/runtime/kinds.ts'
import type { AnswerOf, Requested, RouteName, SideName } from '../../sides/admin/calls.ts'
import { type OwnAddress, ownAddress } from '../../sides/config/compose/own-address.ts'
import { loadConfig } from '../../sides/config/load.ts'
import { type Client, createClient, type Peer } from './client.ts'
import { withConfig } from './config-option.ts'
import { CliError, exit, refuseWith } from './exit.ts'
import { interruptible } from './interruptible.ts'
import type { Progress } from './progress.ts'
import { timeOption } from './time.ts'

export interface Addressed {
  readonly url?: string | undefined
  readonly key?: string | undefined
  readonly keyFile?: string | undefined
  readonly config?: string
  readonly patience: number
  readonly json?: true
}

/** `server`: the side at --url, which may be either. */
export type Side = Peer['side']

type NameOf<Called extends Side> = Called extends SideName ? Called : SideName

const keysOf = { platform: 'platform.keys', operator: 'operator.admin_keys', server: 'its configuration' } as const

const phraseScopes = (scopes: readonly Scope[]): string =>
  `${scopes.length > 1 ? 'scopes' : 'scope'} ${scopes.join(', ').replace(/, (?=\w+$)/, ' and ')}`

/** Adds the options --url, --key, --key-file, --config and --patience. */
export function withAddress(command: Command, side: Side, scopes: readonly Scope[], patience = '10s'): Command {
  const keys = side === 'server' ? 'the configuration' : keysOf[side]
  return withConfig(command)
    .addOption(
      new Option('--url <url>', `the URL of the ${side}; default: its address in the configuration`).env(
        'BELLWIRE_URL',
      ),
    )
    .addOption(
      new Option(
        '--key <key>',
        `a key with the ${phraseScopes(scopes)}; default: the first such key of ${keys}. ps shows it to all users of this machine: prefer --key-file or the variable`,
      ).env('BELLWIRE_KEY'),
    )
    .option('--key-file <file>', 'read the key from this file')
    .addOption(
      timeOption('--patience <time>', `the longest outage of the ${side} before the command gives up`, patience),
    )
}

/** Adds the same options and --json. */
export const withAnswer = (command: Command, side: Side, scope: Scope): Command =>
  withAddress(command, side, [scope]).option('--json', 'print the answer as one JSON object')

/** How a running side is called. */
export interface Address extends OwnAddress {
  readonly key: string
  readonly proxy?: string | undefined
}

/** The proxy to an address of the command line. An address of the configuration is on this machine. */
function proxyOfUrls(): string | undefined {
  const { BELLWIRE_PROXY: proxy } = process.env
  if (!proxy || isProxyUrl(proxy)) return proxy || undefined
  throw new CliError(
    exit.usage,
    'BELLWIRE_PROXY is not the http address of a proxy, such as http://proxy.example.com:3128',
  )
}

/**
 * The address and the key of the running side, from the command line or else from the configuration.
 *
 * @param other the word in the names of the options of a second side
 */
export async function runningSide(
  side: Side,
  { url, config: file, ...options }: Omit<Addressed, 'patience'>,
  scopes: readonly Scope[],
  other: '' | 'other-' = '',
): Promise<Address> {
  if (url !== undefined && !/^https?:/.test(url))
    throw new CliError(exit.usage, `--${other}url is not an http or https address: ${url}`)
  const key = demandKey(options.keyFile === undefined ? options.key : await readKey(options.keyFile))
  const proxy = url === undefined ? undefined : proxyOfUrls()
  if (url !== undefined && key !== undefined) return { url, key, proxy }
  if (side === 'server') {
    const variable = `BELLWIRE_${other && 'OTHER_'}KEY`
    throw new CliError(exit.usage, `--${other}url needs a key: give ${variable} or --${other}key-file`)
  }
  const { platform, operator } = await loadConfig(file)
  const listening = side === 'platform' ? platform : operator
  if (!listening)
    throw new CliError(exit.usage, `no ${side}: give --url and a key, or a configuration with a section ${side}`)
  const keys = side === 'platform' ? platform?.keys : operator?.adminKeys
  const found = keys?.find((each) => each.key !== undefined && scopes.every((scope) => each.scopes.includes(scope)))
  if (key === undefined && !found)
    throw new CliError(
      exit.usage,
      `no key of ${keysOf[side]} has the ${phraseScopes(scopes)}${keys?.some((each) => each.key === undefined) ? ' and is written as `key`' : ''}: add one, or give BELLWIRE_KEY or --key-file`,
    )
  // All commands call /admin.
  const address = url === undefined ? await ownAddress(side, listening.admin ?? listening) : { url }
  return { ...address, key: key ?? (found?.key as string), proxy }
}

export async function readKey(file: string): Promise<string> {
  const key = await readFile(file, 'utf8').catch(refuseWith('--key-file cannot be read'))
  if (key.trim() === '') throw new CliError(exit.usage, `--key-file ${file} is empty: write the key into it`)
  return key.trim()
}

/** Returns the key. @throws CliError if it cannot be sent in a header */
export function demandKey<Key extends string | undefined>(key: Key): Key {
  if (key === undefined || /^[\x21-\x7e]+$/.test(key)) return key
  throw new CliError(
    exit.usage,
    'the key has a space or a character outside ASCII, which no key has: copy it again, without its placeholder or quotes',
  )
}

interface Session {
  /** Ends with the work. */
  readonly progress?: Progress
  /** Advice for the user if the side does not answer in time. */
  readonly retryHint?: string
  /** The error message after Ctrl-C. */
  readonly interrupted?: string
}

/** Runs the work with a client of the running side. Ctrl-C aborts it. */
export async function withSide<Called extends Side, T>(
  side: Called,
  addressed: Addressed,
  scopes: readonly Scope[],
  work: (client: Client<NameOf<Called>>, signal: AbortSignal) => Promise<T>,
  { retryHint, interrupted = 'interrupted; it is safe to repeat the command', progress }: Session = {},
): Promise<T> {
  const peer = {
    side,
    key: `${keysOf[side]} with the ${phraseScopes(scopes)}`,
    ...(retryHint !== undefined && { retryHint }),
  }
  const address = await runningSide(side, addressed, scopes)
  const notify = progress?.print ?? console.error
  return interruptible(interrupted, async (signal) => {
    const client = createClient<NameOf<Called>>({ ...address, patienceMs: addressed.patience, notify, peer, signal })
    try {
      return await work(client, signal)
    } finally {
      await client.close()
      progress?.end()
    }
  })
}

/** Calls one route of the running side, and returns its answer. */
export const callSide = <Called extends Side, Name extends RouteName<NameOf<Called>>>(
  side: Called,
  addressed: Addressed,
  scope: Scope,
  name: Name,
  ...request: Requested<NameOf<Called>, Name>
): Promise<AnswerOf<NameOf<Called>, Name>> =>
  withSide(side, addressed, [scope], (client) => client.call(name, ...request))

/**
 * The side whose lanes a command reads and controls: the platform. An operator has lanes for its device links and statuses, with
 * the same routes: it is called if the configuration has no platform.
 */
export async function sideOfLanes({ url, config }: Pick<Addressed, 'url' | 'config'>): Promise<'platform'> {
  if (url !== undefined) return 'platform'
  const { platform, operator } = await loadConfig(config)
  return (operator && !platform ? 'operator' : 'platform') as 'platform'
}

/** The sides that a command can call: the one at --url, or those of the configuration. */
export async function findSides({ url, config }: Pick<Addressed, 'url' | 'config'>): Promise<readonly Side[]> {
  if (url !== undefined) return ['server']
  const configured = await loadConfig(config)
  return (['operator', 'platform'] as const).filter((side) => configured[side])
}

/** The same. @throws CliError if there is none */
export async function calledSides(options: Pick<Addressed, 'url' | 'config'>): Promise<[Side, ...Side[]]> {
  const [side, ...others] = await findSides(options)
  if (side !== undefined) return [side, ...others]
  throw new CliError(exit.usage, 'give --url and a key, or a configuration with a section operator or platform')
}
