import { randomBytes, randomInt } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listenAt } from '../../base/runtime/local-server.ts'
import type { StandIns } from '../stand-ins/all.ts'
import { brands } from './cast.ts'
import { startPushServices } from './push-services.ts'
import { createSideProcess, type SideProcess } from './side-process.ts'
import { startWire, type Wire } from './wire.ts'

export interface DemoSide {
  readonly url: string
  /** A key with all scopes that the demo and its reader need. */
  readonly adminKey: string
  readonly process: SideProcess
}

export interface Servers {
  readonly operator: DemoSide
  readonly platform: DemoSide
  /** The network between both. */
  readonly wire: Wire
  /** The stand-ins of the push services. */
  readonly standIns: StandIns
  /** Writes the operator's list of users, with these users excluded. */
  writeUsers(excluded: ReadonlySet<string>): Promise<void>
  stop(): Promise<void>
}

/** A message is sent again after at most this time, so that a person sees it. */
const retry = { first: '500ms', most: '3s' }

/**
 * Starts an operator and a platform as in production: two processes of the command `bellwire`, each with its own store and port.
 * They share only API keys, and talk over HTTP. The push services of the operator are stand-ins.
 *
 * @param origins the origins of the operators' pages
 */
export async function startServers(origins: readonly string[]): Promise<Servers> {
  const folder = await mkdtemp(join(tmpdir(), 'bellwire-demo-'))
  const undo: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })]
  const stop = async (): Promise<void> => {
    while (undo.length > 0) await undo.pop()?.()
  }
  const users = join(folder, 'users.csv')
  const writeUsers = (excluded: ReadonlySet<string>): Promise<void> => writeFile(users, usersFile(excluded))
  try {
    const apiKeys = brands.map(({ id, name }) => ({ name: `platform for ${name}`, key: key(), brands: [Number(id)] }))
    const [operatorKey, platformKey] = [key(), key()]
    const scopes = ['counts', 'read', 'decide', 'people', 'audit']
    const [operatorPort = 0, platformPort = 0] = await findFreePorts(2)
    const { standIns, services } = await startPushServices()
    undo.push(() => standIns.close())
    const operatorUrl = `http://127.0.0.1:${operatorPort}`
    const wire = await startWire(operatorUrl)
    undo.push(() => wire.close())
    const config = {
      operator: {
        port: operatorPort,
        store: `sqlite:${join(folder, 'operator.db')}`,
        stop_within: '2s',
        keys: apiKeys,
        admin_keys: [{ name: 'demo', key: operatorKey, scopes: [...scopes, 'tokens'] }],
        push: { devices: { source: 'registry', services } },
        site: { provider: 'inbox' },
        // In production, this would be a query of the operator's user database.
        attributes: [{ file: users }],
        app: { secrets: [key()], origins },
        console: { other_side: { url: `http://127.0.0.1:${platformPort}`, api_key: platformKey } },
      },
      platform: {
        port: platformPort,
        store: `sqlite:${join(folder, 'platform.db')}`,
        stop_within: '2s',
        keys: [{ name: 'demo', key: platformKey, scopes: [...scopes, 'enqueue'] }],
        console: { other_side: { url: operatorUrl, api_key: operatorKey } },
        lanes: apiKeys.flatMap(({ key: apiKey, brands: [brand] }) => {
          const to = { provider: 'operator-api', url: wire.url, api_key: apiKey }
          return [
            { brand, channel: 'push', mode: 'batch', max: 100, span: '250ms', per_second: 5, retry, to },
            { brand, channel: 'site', mode: 'single', retry, to },
          ]
        }),
      },
    }
    const file = join(folder, 'bellwire.yaml')
    // JSON is YAML.
    await Promise.all([
      writeFile(file, JSON.stringify(config, undefined, 2), { mode: 0o600 }),
      writeUsers(excludedAtFirst),
    ])
    const [operator, platform] = await Promise.all(
      (['operator', 'platform'] as const).map(async (side) => {
        const process = createSideProcess(side, file)
        undo.push(() => process.stop('SIGTERM'))
        await process.start()
        return process
      }),
    )
    return {
      operator: { url: operatorUrl, adminKey: operatorKey, process: operator as SideProcess },
      platform: { url: `http://127.0.0.1:${platformPort}`, adminKey: platformKey, process: platform as SideProcess },
      wire,
      standIns,
      writeUsers,
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** The users who have excluded themselves, as BRAND/USER. */
export const excludedAtFirst: ReadonlySet<string> = new Set(
  brands.flatMap(({ id, users }) => users.filter(({ excluded }) => excluded).map((user) => `${id}/${user.id}`)),
)

function usersFile(excluded: ReadonlySet<string>): string {
  const lines = brands.flatMap(({ id, users }) =>
    users.map((user) => `${id},${user.id},${excluded.has(`${id}/${user.id}`)}`),
  )
  return ['brand,user_id,excluded', ...lines, ''].join('\n')
}

/** Below the ports that the system selects itself: the port of a side that is killed stays free until the side starts again. */
const ports = [20_000, 32_000] as const

async function findFreePorts(count: number): Promise<readonly number[]> {
  const servers = await Promise.all(Array.from({ length: count }, listenInRange))
  const found = servers.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return found
}

async function listenInRange(): Promise<Server> {
  const server = createServer()
  try {
    await listenAt(server, { port: randomInt(...ports) })
    return server
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return listenInRange()
    throw error
  }
}

function key(): string {
  return randomBytes(24).toString('base64url')
}
