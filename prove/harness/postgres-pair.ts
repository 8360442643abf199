// Two PostgreSQL servers: a primary and its standby. They have no manager: the proof promotes the standby.

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, chownSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { freePort } from '../../test/support/free-port.ts'
import { findBinaries, runnableBinaries, unprivilegedUser } from '../../test/support/services/postgres-server.ts'
import { retryUntil } from './retry-until.ts'

export interface PostgresPair {
  /** An address with both servers. */
  readonly url: string
  /** Kills the primary (SIGKILL) and promotes the standby. Resolves when it accepts writes. */
  killPrimary(): Promise<void>
  /** The killed server comes back as the standby, as a copy of the primary. Resolves when it streams, and commits wait for it. */
  rejoin(): Promise<void>
  stop(): void
}

interface Server {
  readonly port: number
  readonly data: string
  process?: ChildProcess
}

const settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '100',
  wal_keep_size: '512MB',
  hot_standby: 'on',
}

/** @param synchronous commits wait for the standby */
export async function startPostgresPair(synchronous: boolean, signal: AbortSignal): Promise<PostgresPair> {
  const folder = mkdtempSync(join(tmpdir(), 'bellwire-pair-'))
  const user = unprivilegedUser()
  if (user) chownSync(folder, user.uid, user.gid)
  const bin = runnableBinaries(findBinaries(), folder, user)
  const [first, second] = (await Promise.all([freePort(), freePort()])).map((port, i) => ({
    port,
    data: join(folder, `data-${i}`),
  })) as [Server, Server]
  let [primary, standby] = [first, second]
  const log = openSync(join(folder, 'log'), 'a')
  const kill = (server: Server): void => void server.process?.kill('SIGKILL')
  process.once('exit', () => [first, second].forEach(kill))

  execFileSync(
    join(bin, 'initdb'),
    ['-D', primary.data, '-U', 'postgres', '--auth=trust', '--no-sync', '--encoding=UTF8', '--locale=C'],
    { ...user, stdio: 'pipe', cwd: folder },
  )
  await start(primary)
  await rejoin()

  async function start(server: Server): Promise<void> {
    const flags = Object.entries({ ...settings, port: String(server.port) }).flatMap(([name, value]) => [
      '-c',
      `${name}=${value}`,
    ])
    server.process = spawn(join(bin, 'postgres'), ['-D', server.data, ...flags], {
      ...user,
      cwd: folder,
      stdio: ['ignore', log, log],
    })
    await retryUntil(() => query(server, 'select 1'), signal)
  }

  async function rejoin(): Promise<void> {
    rmSync(standby.data, { recursive: true, force: true })
    await copyData()
    await start(standby)
    await retryUntil(async () => {
      const [found] = await query<{ n: string }>(
        primary,
        `select count(*) as n from pg_stat_replication where state = 'streaming'`,
      )
      if (found?.n !== '1') throw new Error('the standby does not stream')
    }, signal)
    if (!synchronous) return
    await demandStandby('*')
    await retryUntil(async () => {
      const [found] = await query<{ n: string }>(
        primary,
        `select count(*) as n from pg_stat_replication where sync_state = 'sync'`,
      )
      if (found?.n !== '1') throw new Error('the standby is not synchronous')
    }, signal)
  }

  async function demandStandby(names: string): Promise<void> {
    await query(primary, `alter system set synchronous_standby_names = '${names}'`)
    await query(primary, 'select pg_reload_conf()')
  }

  /** A base backup: https://www.postgresql.org/docs/current/continuous-archiving.html#BACKUP-LOWLEVEL-BASE-BACKUP */
  async function copyData(): Promise<void> {
    const client = await connect(primary)
    try {
      await client.query(`select pg_backup_start('standby', true)`)
      // A file may vanish meanwhile.
      spawnSync('cp', ['-a', primary.data, standby.data])
      const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)')
      writeFileSync(join(standby.data, 'backup_label'), rows[0]?.labelfile ?? '')
    } finally {
      await client.end()
    }
    for (const name of ['postmaster.pid', 'postmaster.opts', 'pg_wal'])
      rmSync(join(standby.data, name), { recursive: true, force: true })
    mkdirSync(join(standby.data, 'pg_wal'), { mode: 0o700 })
    writeFileSync(join(standby.data, 'standby.signal'), '')
    appendFileSync(
      join(standby.data, 'postgresql.auto.conf'),
      `primary_conninfo = 'host=127.0.0.1 port=${primary.port} user=postgres'\n`,
    )
    for (const name of ['backup_label', 'pg_wal', 'standby.signal'])
      if (user) chownSync(join(standby.data, name), user.uid, user.gid)
  }

  return {
    url: `postgres://postgres@127.0.0.1:${first.port},127.0.0.1:${second.port}/postgres?target_session_attrs=read-write`,
    async killPrimary() {
      const killed = primary
      const ended = once(killed.process as ChildProcess, 'exit')
      kill(killed)
      await ended
      ;[primary, standby] = [standby, killed]
      await query(primary, 'select pg_promote(true, 60)')
    },
    rejoin,
    stop() {
      for (const server of [first, second]) kill(server)
      rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
    },
  }
}

async function connect({ port }: Server): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: `postgres://postgres@127.0.0.1:${port}/postgres` })
  client.on('error', () => {})
  await client.connect()
  return client
}

async function query<Row extends object>(server: Server, text: string): Promise<readonly Row[]> {
  const client = await connect(server)
  try {
    return (await client.query<Row>(text)).rows
  } finally {
    await client.end().catch(() => {})
  }
}
