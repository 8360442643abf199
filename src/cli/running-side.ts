import { type Command, Option } from 'commander'
import { loadConfig } from '../config/load.ts'
import type { Scope } from '../runtime/access.ts'
import { type Client, withClient } from './client.ts'
import { withConfig } from './config-option.ts'
import { CliError, exit } from './exit.ts'
import { localUrl } from './local-url.ts'

export interface Addressed {
  readonly url?: string
  readonly key?: string
  readonly config?: string
}

type Side = 'platform' | 'operator'

const keysOf = { platform: 'keys', operator: 'admin_keys' } as const

const named = (scopes: readonly Scope[]): string => `${scopes.length > 1 ? 'scopes' : 'scope'} ${scopes.join(' and ')}`

/** --url and --key of a running side, or its configuration. @param key what a person is told of the key */
export function withAddress(command: Command, side: Side, key: string): Command {
  return withConfig(command)
    .addOption(
      new Option('--url <url>', `the ${side}; default: where the configuration says that it listens`).env(
        'BELLWIRE_URL',
      ),
    )
    .addOption(new Option('--key <key>', key).env('BELLWIRE_KEY'))
}

/** Which running side is meant: from the command line or, for what is not given there, from the configuration. */
export async function runningSide(
  side: Side,
  { url, key, config: file }: Addressed,
  scopes: readonly Scope[],
): Promise<{ readonly url: string; readonly key: string }> {
  if (url !== undefined && !/^https?:/.test(url))
    throw new CliError(exit.usage, `--url is not an http or https address: ${url}`)
  if (url !== undefined && key !== undefined) return { url, key }
  const { platform, operator } = await loadConfig(file)
  const listening = side === 'platform' ? platform : operator
  if (!listening)
    throw new CliError(exit.usage, `which ${side}? Give --url and --key, or a configuration with a section ${side}`)
  const keys = side === 'platform' ? platform?.keys : operator?.admin_keys
  const found = keys?.find((each) => scopes.every((scope) => each.scopes.includes(scope)))
  if (key === undefined && !found)
    throw new CliError(
      exit.usage,
      `no key of ${side}.${keysOf[side]} has ${scopes.length > 1 ? 'both' : 'the'} ${named(scopes)}: add one, or give --key`,
    )
  // What commands ask for is under /admin.
  return { url: url ?? localUrl(listening.admin ?? listening), key: key ?? (found?.key as string) }
}

export interface Talk {
  readonly scopes: readonly Scope[]
  readonly patienceMs: number
  readonly notice: (text: string) => void
  /** What becomes of it when nobody answers in time. */
  readonly later?: string
  /** What a person is told who ends it with Ctrl-C. */
  readonly interrupted: string
}

/** Gives the work a client of the running side until it ends, or Ctrl-C ends it. */
export async function withSide<T>(
  side: Side,
  addressed: Addressed,
  { scopes, later, interrupted, ...talk }: Talk,
  work: (client: Client, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const called = {
    side,
    key: `${side}.${keysOf[side]} with the ${named(scopes)}`,
    ...(later !== undefined && { later }),
  }
  return withClient({ ...(await runningSide(side, addressed, scopes)), ...talk, called }, interrupted, work)
}
