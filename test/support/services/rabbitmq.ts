// RabbitMQ: the one named in the environment, else a node of our own. Its programs are those of this machine, or Debian's
// packages unpacked into a cache: nothing is installed, no service of the system is started or disturbed.

import { chmodSync, globSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../free-port.ts'
import { download, installing } from './apt.ts'
import { cached } from './cache.ts'
import { atThirdTry, findProgram, isDebian, isRoot, run, type Server, startServer } from './program.ts'
import { addressOf, type Service, without } from './service.ts'

export const rabbitmqService: Service<object> = {
  name: 'RabbitMQ',
  variable: 'BELLWIRE_TEST_RABBITMQ',
  proves: 'device links over AMQP',
  command: `sudo sh -c '${installing('rabbitmq-server')}', or BELLWIRE_TEST_RABBITMQ=amqp://user:password@host npm test`,
  start: startRabbitmq,
}

/** The address of the shared broker. A test has queues and exchanges of its own there, and never kills it. */
export const rabbitmq = (): Promise<string> => addressOf(rabbitmqService)

/** For a test's `skip`. */
export const withoutRabbitmq = (): Promise<string | false> => without(rabbitmqService)

export interface Broker {
  readonly address: string
  /** SIGKILL: everything that it had not on disk is gone. */
  kill(): Promise<void>
  /** The same broker again: its address, its data. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/** A broker of one's own, to be killed as one likes. */
export async function startRabbitmq(): Promise<Broker> {
  const programs = await findPrograms()
  return atThirdTry(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bellwire-rabbitmq-'))
    try {
      return await start(programs, folder)
    } catch (error) {
      rmSync(folder, { recursive: true, force: true })
      throw error
    }
  })
}

interface Programs {
  readonly server: string
  /** Where `erl` is, if not on PATH. */
  readonly erlang?: string
  readonly epmd: string
}

async function start({ server, erlang, epmd }: Programs, folder: string): Promise<Broker> {
  const [port, nodes, names] = [await freePort(), await freePort(), await freePort()]
  const at = (name: string): string => join(folder, name)
  mkdirSync(at('home'))
  writeFileSync(at('plugins'), '[].')
  writeFileSync(at('environment'), '')
  // Tests are many small commits; how a full disk is handled is not what they are about.
  writeFileSync(at('rabbitmq.conf'), `listeners.tcp.1 = 127.0.0.1:${port}\ndisk_free_limit.absolute = 50MB\n`)
  const env = {
    ...process.env,
    ...(erlang && { PATH: `${erlang}${delimiter}${process.env.PATH}` }),
    HOME: at('home'), // the cookie is there
    ERL_EPMD_PORT: String(names),
    ERL_EPMD_ADDRESS: '127.0.0.1',
    RUNNING_UNDER_SYSTEMD: 'true', // the script becomes the server, so that its pid is the server's
    RABBITMQ_NODENAME: `bellwire-${port}@localhost`,
    RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
    RABBITMQ_NODE_PORT: String(port),
    RABBITMQ_DIST_PORT: String(nodes),
    RABBITMQ_CONF_ENV_FILE: at('environment'),
    RABBITMQ_CONFIG_FILE: at('rabbitmq'),
    RABBITMQ_ADVANCED_CONFIG_FILE: at('advanced'),
    RABBITMQ_GENERATED_CONFIG_DIR: at('generated'),
    RABBITMQ_ENABLED_PLUGINS_FILE: at('plugins'),
    RABBITMQ_MNESIA_BASE: at('mnesia'),
    RABBITMQ_LOG_BASE: at('log'),
    RABBITMQ_LOGS: '-',
    RABBITMQ_PID_FILE: at('pid'),
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '-start_epmd false',
  }
  const register = await startServer({
    program: epmd,
    args: ['-port', String(names), '-address', '127.0.0.1'],
    env,
    folder,
  })
  const boot = (): Promise<Server> =>
    startServer({ program: server, args: [], env, folder, ready: /Server startup complete|completed with \d+ plugins/ })
  let node = await boot().catch(async (error: Error) => {
    await register.end('keep')
    throw error
  })
  return {
    address: `amqp://guest:guest@127.0.0.1:${port}`,
    async kill() {
      // RabbitMQ 3.10 writes down lazily which quorum queues it has: one declared a moment ago would be there after the
      // restart, and never have a leader again. That is not what our tests are about.
      await sleep(1_500)
      await node.end('keep')
    },
    async restart() {
      node = await boot()
    },
    async stop() {
      await node.end('keep')
      await register.end()
    },
  }
}

async function findPrograms(): Promise<Programs> {
  // Debian's program on PATH is a wrapper that becomes another user; the one behind it is for everybody.
  const server = findProgram('rabbitmq-server', ['/usr/lib/rabbitmq/bin/rabbitmq-server'])
  const epmd = findProgram('epmd', globSync('/usr/lib/erlang/erts-*/bin/epmd'))
  if (server && epmd && findProgram('erl')) return { server, epmd }
  if (!isDebian()) throw new Error('there is none on PATH')
  const root = await cached('rabbitmq', unpack)
  const erlang = join(root, 'usr', 'lib', 'erlang')
  const [binaries] = globSync(join(erlang, 'erts-*', 'bin'))
  return {
    server: join(root, 'usr', 'lib', 'rabbitmq', 'bin', 'rabbitmq-server'),
    erlang: ownErl(root, erlang, binaries as string),
    epmd: join(binaries as string, 'epmd'),
  }
}

async function unpack(folder: string): Promise<void> {
  // As root, apt fetches as another user, who must be able to write here.
  if (isRoot()) chmodSync(folder, 0o777)
  await download('rabbitmq-server', /^(erlang-[a-z0-9-]+|rabbitmq-server)$/, folder)
  chmodSync(folder, 0o755)
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.deb'))) {
    await run('dpkg-deb', ['-x', file, '.'], { cwd: folder })
    rmSync(join(folder, file))
  }
}

/** Debian's `erl` knows one place where it may be; ours is there beside it. */
function ownErl(root: string, erlang: string, binaries: string): string {
  const file = join(root, 'bin', 'erl')
  mkdirSync(dirname(file), { recursive: true })
  const script = `#!/bin/sh\nexport EMU=beam PROGNAME=erl ROOTDIR='${erlang}' BINDIR='${binaries}'\nexec "$BINDIR/erlexec" "$@"\n`
  writeFileSync(file, script, { mode: 0o755 })
  return dirname(file)
}
