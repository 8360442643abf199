// Two PostgreSQL servers of Debian with synchronous replication, managed by Patroni. Its processes agree by Raft, with a third member
// that has no server. https://patroni.readthedocs.io/en/latest/replication_modes.html#synchronous-mode

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, cpSync, globSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { freePort } from '../../test/support/free-port.ts'
import { installing, unpack } from '../../test/support/services/apt.ts'
import { cached } from '../../test/support/services/cache.ts'
import { unprivilegedUser } from '../../test/support/services/postgres-server.ts'
import type { PostgresPair } from './postgres-pair.ts'
import { retryUntil } from './retry-until.ts'

interface Node {
  readonly name: string
  readonly port: number
  readonly api: number
  readonly data: string
  readonly settings: string
  process?: ChildProcess
}

interface Member {
  readonly name: string
  readonly role: string
  readonly state: string
}

const packages =
  /^(patroni|python3-(cdiff|click|dateutil|prettytable|psutil|psycopg2|pysyncobj|six|urllib3|wcwidth|yaml))$/

/** Needs PostgreSQL of Debian. `killPrimary` resolves when Patroni names the new primary, which may then still be starting to accept writes. */
export async function startPatroniPair(signal: AbortSignal): Promise<PostgresPair> {
  const [bin] = globSync('/usr/lib/postgresql/*/bin/pg_rewind').map(dirname).sort().reverse()
  if (bin === undefined) throw new Error(`Patroni needs PostgreSQL of Debian: ${installing('postgresql')}`)
  const folder = mkdtempSync(join(tmpdir(), 'bellwire-patroni-'))
  const user = unprivilegedUser()
  // The user of the servers may not read the cache.
  const root = join(folder, 'root')
  cpSync(await cached('patroni', (into) => unpack('patroni', packages, into)), root, { recursive: true })
  if (user) chownSync(folder, user.uid, user.gid)
  const log = openSync(join(folder, 'log'), 'a')
  const rafts = await Promise.all(Array.from({ length: 3 }, async () => `127.0.0.1:${await freePort()}`))
  const nodes = await Promise.all([0, 1].map(addNode))
  const [first, second] = nodes as [Node, Node]
  const witness = join(folder, 'witness.yml')
  writeFileSync(witness, JSON.stringify({ raft: raftOf(2) }))
  const third = spawnPython('patroni_raft_controller', witness)
  process.once('exit', killAll)
  await startNode(first)
  await retryUntil(async () => demand(await leader(), 'a leader'), signal)
  await startNode(second)
  await rejoined()

  function raftOf(i: number): object {
    return { data_dir: join(folder, `raft-${i}`), self_addr: rafts[i], partner_addrs: rafts.filter((_, n) => n !== i) }
  }

  async function addNode(i: number): Promise<Node> {
    const [port, api] = [await freePort(), await freePort()]
    const name = `server-${i}`
    const data = join(folder, `data-${i}`)
    const settings = join(folder, `${name}.yml`)
    const [address, apiAddress] = [`127.0.0.1:${port}`, `127.0.0.1:${api}`]
    const role = { username: 'postgres' }
    // YAML contains JSON.
    const text = JSON.stringify({
      scope: 'bellwire',
      name,
      restapi: { listen: apiAddress, connect_address: apiAddress },
      raft: raftOf(i),
      bootstrap: {
        dcs: {
          // The shortest lease of the primary that Patroni accepts.
          ttl: 20,
          loop_wait: 1,
          retry_timeout: 5,
          synchronous_mode: true,
          postgresql: { use_pg_rewind: true, parameters: { wal_log_hints: 'on', wal_keep_size: '512MB' } },
        },
        initdb: [{ encoding: 'UTF8' }, { locale: 'C' }, 'no-sync'],
      },
      postgresql: {
        listen: address,
        connect_address: address,
        bin_dir: bin,
        data_dir: data,
        pgpass: join(folder, `pgpass-${i}`),
        pg_hba: ['host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust'],
        authentication: { superuser: role, replication: role, rewind: role },
        parameters: { unix_socket_directories: '' },
        remove_data_directory_on_rewind_failure: true,
        remove_data_directory_on_diverged_timelines: true,
      },
    })
    writeFileSync(settings, text)
    return { name, port, api, data, settings }
  }

  function spawnPython(program: string, settings: string): ChildProcess {
    const env = { ...process.env, PYTHONPATH: join(root, 'usr', 'lib', 'python3', 'dist-packages') }
    const args = [join(root, 'usr', 'bin', program), settings]
    return spawn('/usr/bin/python3', args, { ...user, cwd: folder, env, stdio: ['ignore', log, log] })
  }

  async function startNode(node: Node): Promise<void> {
    node.process = spawnPython('patroni', node.settings)
    await once(node.process, 'spawn')
  }

  /** The members as the first process that answers knows them. */
  async function members(): Promise<readonly Member[]> {
    const { api } = demand(
      nodes.find(({ process: patroni }) => patroni?.exitCode === null && !patroni.killed),
      'a process',
    )
    const response = await fetch(`http://127.0.0.1:${api}/cluster`, { signal: AbortSignal.timeout(5_000) })
    return ((await response.json()) as { members: readonly Member[] }).members
  }

  async function leader(): Promise<Node | undefined> {
    const found = (await members()).find(({ role, state }) => role === 'leader' && state === 'running')
    return nodes.find(({ name }) => name === found?.name)
  }

  async function rejoined(): Promise<void> {
    await retryUntil(async () => {
      const standby = (await members()).find(({ role }) => role === 'sync_standby')
      demand(standby?.state === 'running' || standby?.state === 'streaming' ? standby : undefined, 'a standby')
    }, signal)
  }

  function killAll(): void {
    third.kill('SIGKILL')
    nodes.forEach(killNode)
  }

  return {
    url: `postgres://postgres@127.0.0.1:${first.port},127.0.0.1:${second.port}/postgres?target_session_attrs=read-write`,
    async killPrimary() {
      const killed = demand(await retryUntil(leader, signal), 'a leader')
      killNode(killed)
      await retryUntil(async () => {
        const { port } = demand(
          nodes.find((node) => node !== killed),
          'a standby',
        )
        const promoted = demand(await leader(), 'a leader')
        if (promoted.port !== port) throw new Error('the standby is not promoted yet')
      }, signal)
    },
    async rejoin() {
      for (const node of nodes) if (node.process?.killed) await startNode(node)
      await rejoined()
    },
    stop() {
      killAll()
      rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
    },
  }
}

/** As the loss of its machine: Patroni first, which would start the server again. */
function killNode({ process: patroni, data }: Node): void {
  patroni?.kill('SIGKILL')
  try {
    process.kill(Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0]), 'SIGKILL')
  } catch {
    // It does not run.
  }
}

function demand<Found>(found: Found | undefined, name: string): Found {
  if (found === undefined) throw new Error(`Patroni has no ${name} yet`)
  return found
}
