// The sides that `bellwire explain` asks: those of the configuration, or those at --url and --other-url.

import { loadConfig } from '../../config/load.ts'
import { type Client, createClient } from '../client.ts'
import { CliError, exit } from '../exit.ts'
import { type Addressed, readKey, runningSide, type Side } from '../running-side.ts'
import type { AskedSide, SideName } from './answers.ts'

export interface SideOptions extends Addressed {
  readonly otherUrl?: string
  readonly otherKey?: string
  readonly otherKeyFile?: string
}

interface Address {
  readonly side: Side
  readonly url: string
  readonly key: string
}

/** Reads the addresses and keys from the command line and the configuration. */
export async function addressesOf(options: SideOptions): Promise<readonly Address[]> {
  const { otherUrl, otherKey, otherKeyFile, ...addressed } = options
  const sides = await configuredSides(options)
  const addresses = await Promise.all(
    sides.map(async (side) => ({ side, ...(await runningSide(side, addressed, ['read'])) })),
  )
  if (otherUrl === undefined) return addresses
  if (!/^https?:/.test(otherUrl))
    throw new CliError(exit.usage, `--other-url is not an http or https address: ${otherUrl}`)
  const key = otherKeyFile === undefined ? otherKey : await readKey(otherKeyFile)
  if (key === undefined)
    throw new CliError(exit.usage, '--other-url needs a key: give BELLWIRE_OTHER_KEY or --other-key-file')
  return [...addresses, { side: 'server', url: otherUrl, key }]
}

async function configuredSides({ url, config, otherUrl }: SideOptions): Promise<readonly Side[]> {
  if (url !== undefined) return ['server']
  const { platform, operator } = await loadConfig(config)
  if (!platform && !operator && otherUrl === undefined)
    throw new CliError(exit.usage, 'give --url and a key, or a configuration with a section platform or operator')
  return [...(platform ? ['platform' as const] : []), ...(operator ? ['operator' as const] : [])]
}

export interface Connected {
  readonly sides: readonly AskedSide[]
  /** The addresses that were not reached, each with the error. */
  readonly errors: readonly CliError[]
}

/** Runs the work with clients of these addresses. One that cannot be reached is left out, unless none can be reached. */
export async function withSides<T>(
  addresses: readonly Address[],
  patienceMs: number,
  signal: AbortSignal,
  work: (connected: Connected) => Promise<T>,
): Promise<T> {
  const clients = addresses.map(({ side, url, key }): Client => {
    const peer = {
      side,
      key: side === 'server' ? 'its configuration with the scope read' : `${side} with the scope read`,
    }
    return createClient({ url, key, peer, patienceMs, signal, notify: (text) => console.error(text) })
  })
  try {
    return await work(await nameSides(clients))
  } finally {
    await Promise.all(clients.map((client) => client.close()))
  }
}

/** Asks each client which side it is. */
async function nameSides(clients: readonly Client[]): Promise<Connected> {
  const sides: AskedSide[] = []
  const errors: CliError[] = []
  await Promise.all(
    clients.map(async (client) => {
      try {
        sides.push({ name: await readName(client), get: (path) => client.get(path) })
      } catch (error) {
        if (!(error instanceof CliError)) throw error
        errors.push(error)
      }
    }),
  )
  const [first] = errors
  if (sides.length === 0 && first) throw first
  const names = new Set(sides.map(({ name }) => name))
  if (names.size < sides.length)
    throw new CliError(exit.usage, `two addresses are of ${phraseSide([...names][0] as SideName)}: leave one out`)
  return { sides, errors }
}

/** Both sides answer this path, the platform with its lanes. */
async function readName(client: Client): Promise<SideName> {
  const summary = (await client.get('/admin/summary')) as object
  return 'lanes' in summary ? 'platform' : 'operator'
}

const phraseSide = (name: SideName): string => (name === 'platform' ? 'a platform' : 'an operator')
