import { readFile } from 'node:fs/promises'
import { type Command, Option } from 'commander'
import { loadConfig } from '../config/load.ts'
import type { Scope } from '../runtime/access.ts'
import { type Client, withClient } from './client.ts'
import { withConfig } from './config-option.ts'
import { CliError, exit } from './exit.ts'
import { localUrl } from './local-url.ts'
import { time } from './time.ts'

export interface Addressed {
  readonly url?: string
  readonly key?: string
  readonly keyFile?: string
  readonly config?: string
  readonly patience: number
}

type Side = 'platform' | 'operator'

const keysOf = { platform: 'keys', operator: 'admin_keys' } as const

const named = (scopes: readonly Scope[]): string => `${scopes.length > 1 ? 'scopes' : 'scope'} ${scopes.join(' and ')}`

/**
 * --url and --key of a running side, or its configuration, and how long to wait for it.
 *
 * @param key the hint about the key in errors
 */
export function withAddress(command: Command, side: Side, key: string, patience = '2min'): Command {
  return withConfig(command)
    .addOption(
      new Option('--url <url>', `the ${side}; default: where the configuration says that it listens`).env(
        'BELLWIRE_URL',
      ),
    )
    .addOption(
      new Option(
        '--key <key>',
        `${key}. ps shows it to every user of this machine: prefer --key-file or the variable`,
      ).env('BELLWIRE_KEY'),
    )
    .option('--key-file <file>', 'read the key from this file')
    .addOption(
      new Option('--patience <time>', `how long the ${side} may be away`)
        .argParser(time)
        .default(time(patience), patience),
    )
}

/** Which running side is meant: from the command line or, for what is not given there, from the configuration. */
export async function runningSide(
  side: Side,
  { url, config: file, ...given }: Omit<Addressed, 'patience'>,
  scopes: readonly Scope[],
): Promise<{ readonly url: string; readonly key: string }> {
  if (url !== undefined && !/^https?:/.test(url))
    throw new CliError(exit.usage, `--url is not an http or https address: ${url}`)
  const key = given.keyFile === undefined ? given.key : await readKey(given.keyFile)
  if (url !== undefined && key !== undefined) return { url, key }
  const { platform, operator } = await loadConfig(file)
  const listening = side === 'platform' ? platform : operator
  if (!listening)
    throw new CliError(exit.usage, `which ${side}? Give --url and a key, or a configuration with a section ${side}`)
  const keys = side === 'platform' ? platform?.keys : operator?.admin_keys
  const found = keys?.find((each) => scopes.every((scope) => each.scopes.includes(scope)))
  if (key === undefined && !found)
    throw new CliError(
      exit.usage,
      `no key of ${side}.${keysOf[side]} has ${scopes.length > 1 ? 'both' : 'the'} ${named(scopes)}: add one, or give BELLWIRE_KEY or --key-file`,
    )
  // Commands use paths under /admin.
  return { url: url ?? localUrl(listening.admin ?? listening), key: key ?? (found?.key as string) }
}

async function readKey(file: string): Promise<string> {
  const key = await readFile(file, 'utf8').catch((error: Error) => {
    throw new CliError(exit.usage, `--key-file cannot be read: ${error.message}`)
  })
  if (key.trim() === '') throw new CliError(exit.usage, `--key-file ${file} is empty: write the key into it`)
  return key.trim()
}

export interface Talk {
  readonly scopes: readonly Scope[]
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
  const { url, key } = await runningSide(side, addressed, scopes)
  return withClient({ url, key, patienceMs: addressed.patience, ...talk, called }, interrupted, work)
}
