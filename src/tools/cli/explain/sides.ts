// The sides that `bellwire explain` asks: those of the configuration, or those at --url and --other-url.

import type { SideName } from '../../../sides/admin/calls.ts'
import { type Client, createClient } from '../client.ts'
import { CliError, exit } from '../exit.ts'
import { type Address, type Addressed, calledSides, findSides, runningSide, type Side } from '../running-side.ts'

export interface SideOptions extends Addressed {
  readonly otherUrl?: string
  readonly otherKey?: string
  readonly otherKeyFile?: string
}

interface AskedSide extends Address {
  readonly side: Side
}

/** Reads the addresses and keys from the command line and the configuration. */
export async function addressesOf(options: SideOptions): Promise<readonly AskedSide[]> {
  const { otherUrl, otherKey, otherKeyFile, ...addressed } = options
  const sides = otherUrl === undefined ? await calledSides(options) : await findSides(options)
  const addresses = await Promise.all(
    sides.map(async (side) => ({ side, ...(await runningSide(side, addressed, ['counts', 'read'])) })),
  )
  if (otherUrl === undefined) return addresses
  const other = { url: otherUrl, key: otherKey, keyFile: otherKeyFile }
  return [...addresses, { side: 'server', ...(await runningSide('server', other, ['counts', 'read'], 'other-')) }]
}

/** The clients of the sides that are asked. */
export type Sides = { readonly [Name in SideName]?: Client<Name> | undefined }

export interface Connected {
  readonly sides: Sides
  /** The addresses that were not reached, each with the error. */
  readonly errors: readonly CliError[]
}

/** Runs the work with clients of these addresses. One that cannot be reached is left out, unless none can be reached. */
export async function withSides<T>(
  addresses: readonly AskedSide[],
  patienceMs: number,
  signal: AbortSignal,
  work: (connected: Connected) => Promise<T>,
): Promise<T> {
  const clients = addresses.map(({ side, ...address }): Client => {
    const peer = {
      side,
      key:
        side === 'server'
          ? 'its configuration with the scopes counts and read'
          : `${side} with the scopes counts and read`,
    }
    return createClient({ ...address, peer, patienceMs, signal, notify: (text) => console.error(text) })
  })
  try {
    return await work(await nameSides(clients))
  } finally {
    await Promise.all(clients.map((client) => client.close()))
  }
}

/** Asks each client which side it is. */
async function nameSides(clients: readonly Client[]): Promise<Connected> {
  const named: [SideName, Client][] = []
  const errors: CliError[] = []
  await Promise.all(
    clients.map(async (client) => {
      try {
        named.push([await readName(client), client])
      } catch (error) {
        if (!(error instanceof CliError)) throw error
        errors.push(error)
      }
    }),
  )
  const [first] = errors
  if (named.length === 0 && first) throw first
  const [[name] = [], other] = named
  if (name && name === other?.[0])
    throw new CliError(exit.usage, `two addresses are of ${phraseSide(name)}: leave one out`)
  return { sides: Object.fromEntries(named), errors }
}

/** Both sides answer this path, the platform with its lanes. */
async function readName(client: Client): Promise<SideName> {
  return 'lanes' in (await client.call('GET /admin/summary')) ? 'platform' : 'operator'
}

const phraseSide = (name: SideName): string => (name === 'platform' ? 'a platform' : 'an operator')
