// PgBouncer in front of the PostgreSQL of the tests. The program is on PATH, or in a Debian package that is unpacked into a cache.

import { chmodSync, globSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../free-port.ts'
import { installing, unpack } from './apt.ts'
import { cached } from './cache.ts'
import { environmentOf } from './debian-programs.ts'
import { findProgram, isDebian, isRoot, startServer } from './program.ts'
import type { Service } from './service.ts'

/** The address of the service is the path of its program. */
export const pgbouncerService: Service<object> = {
  name: 'PgBouncer',
  variable: 'BELLWIRE_TEST_PGBOUNCER',
  proves: 'that both sides work through a session pooler, and that one which shares sessions is refused',
  command: `sudo sh -c '${installing('pgbouncer')}'`,
  start: async () => ({
    address: findProgram('pgbouncer', ['/usr/sbin/pgbouncer']) ?? (await unpacked()),
    stop: async () => {},
  }),
}

async function unpacked(): Promise<string> {
  if (!isDebian()) throw new Error('pgbouncer is not on PATH')
  const root = await cached('pgbouncer', (folder) =>
    unpack('pgbouncer', /^(pgbouncer|libc-ares2|libevent-2\.1-7)$/, folder),
  )
  const [found] = globSync(join(root, 'usr', 'sbin', 'pgbouncer'))
  return found ?? Promise.reject(new Error('the package has no program pgbouncer'))
}

export interface Pgbouncer {
  /** The address of the database behind it. */
  readonly url: string
  /** Kills it, with all connections, and starts it again. */
  restart(): Promise<void>
  end(): Promise<void>
}

/** Starts PgBouncer for one test, which ends it after the processes that are connected. */
export async function startPgbouncer(
  program: string,
  database: string,
  poolMode: 'session' | 'transaction' | 'statement',
): Promise<Pgbouncer> {
  const { hostname, port: serverPort, username, password, pathname } = new URL(database)
  const folder = mkdtempSync(join(tmpdir(), 'bellwire-pgbouncer-'))
  chmodSync(folder, 0o755)
  const port = await freePort()
  const settings = join(folder, 'pgbouncer.ini')
  writeFileSync(
    settings,
    `[databases]
${pathname.slice(1)} = host=${hostname} port=${serverPort || 5432} user=${decodeURIComponent(username)}${password && ` password=${decodeURIComponent(password)}`}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${poolMode}
default_pool_size = 60
${isRoot() ? 'user = nobody' : ''}
`,
  )
  const start = () =>
    startServer({ program, args: [settings], folder, env: environmentOf(program), ready: /process up/ })
  let server = await start()
  return {
    url: `postgres://${username}@127.0.0.1:${port}${pathname}`,
    async restart() {
      await server.end('keep')
      server = await start()
    },
    end: () => server.end(),
  }
}
