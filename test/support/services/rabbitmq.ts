// RabbitMQ: the broker named in the environment, or else a node that we start. The programs are installed on this machine, or Debian
// packages unpacked into a cache: nothing is installed, and no system service is started or changed.

import { globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../free-port.ts'
import { installing, unpack } from './apt.ts'
import { cached } from './cache.ts'
import { findProgram, isDebian, type Server, startServer, tryThreeTimes } from './program.ts'
import { addressOf, type Service, without } from './service.ts'

export const rabbitmqService: Service<object> = {
  name: 'RabbitMQ',
  variable: 'BELLWIRE_TEST_RABBITMQ',
  proves: 'device links over AMQP',
  command: `sudo sh -c '${installing('rabbitmq-server')}', or BELLWIRE_TEST_RABBITMQ=amqp://user:password@host npm test`,
  start: startRabbitmq,
}

/** Returns the address of the shared broker. A test must use its own queues and exchanges there, and must not stop the broker. */
export const rabbitmq = (): Promise<string> => addressOf(rabbitmqService)

/** The reason to skip a test, or false. */
export const withoutRabbitmq = (): Promise<string | false> => without(rabbitmqService)

export interface Broker {
  readonly address: string
  /** Sends SIGKILL: data that is not on disk is lost. */
  kill(): Promise<void>
  /** Restarts the broker with the same address and data. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/** Starts a broker for one test, which may kill it. */
export async function startRabbitmq(): Promise<Broker> {
  const programs = await findPrograms()
  return tryThreeTimes(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'bellwire-rabbitmq-'))
    try {
      return await start(programs, folder)
    } catch (error) {
      rmSync(folder, { recursive: true, force: true })
      throw error
    }
  })
}

const packages = /^(erlang-[a-z0-9-]+|rabbitmq-server)$/

interface Programs {
  readonly server: string
  /** The folder of `erl`, if it is not on PATH. */
  readonly erlang?: string
  readonly epmd: string
}

async function start({ server, erlang, epmd }: Programs, folder: string): Promise<Broker> {
  const [port, distributionPort, epmdPort] = [await freePort(), await freePort(), await freePort()]
  const at = (name: string): string => join(folder, name)
  mkdirSync(at('home'))
  writeFileSync(at('plugins'), '[].')
  writeFileSync(at('environment'), '')
  // A low limit, because the tests do not cover a full disk.
  writeFileSync(at('rabbitmq.conf'), `listeners.tcp.1 = 127.0.0.1:${port}\ndisk_free_limit.absolute = 50MB\n`)
  const env = {
    ...process.env,
    ...(erlang && { PATH: `${erlang}${delimiter}${process.env.PATH}` }),
    HOME: at('home'), // contains the Erlang cookie
    ERL_EPMD_PORT: String(epmdPort),
    ERL_EPMD_ADDRESS: '127.0.0.1',
    RUNNING_UNDER_SYSTEMD: 'true', // makes the script exec the server, so that both have the same pid
    RABBITMQ_NODENAME: `bellwire-${port}@localhost`,
    RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
    RABBITMQ_NODE_PORT: String(port),
    RABBITMQ_DIST_PORT: String(distributionPort),
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
  const epmdServer = await startServer({
    program: epmd,
    args: ['-port', String(epmdPort), '-address', '127.0.0.1'],
    env,
    folder,
  })
  const boot = (): Promise<Server> =>
    startServer({ program: server, args: [], env, folder, ready: /Server startup complete|completed with \d+ plugins/ })
  let node = await boot().catch(async (error: Error) => {
    await epmdServer.end('keep')
    throw error
  })
  return {
    address: `amqp://guest:guest@127.0.0.1:${port}`,
    async kill() {
      // RabbitMQ 3.10 writes its list of quorum queues to disk lazily: after a kill, a queue declared just before would exist
      // but never have a leader again. The tests do not cover that.
      await sleep(1_500)
      await node.end('keep')
    },
    async restart() {
      node = await boot()
    },
    async stop() {
      await node.end('keep')
      await epmdServer.end()
    },
  }
}

async function findPrograms(): Promise<Programs> {
  // Debian's program on PATH is a wrapper that switches the user; prefer the program behind it.
  const server = findProgram('rabbitmq-server', ['/usr/lib/rabbitmq/bin/rabbitmq-server'])
  const epmd = findProgram('epmd', globSync('/usr/lib/erlang/erts-*/bin/epmd'))
  if (server && epmd && findProgram('erl')) return { server, epmd }
  if (!isDebian()) throw new Error('rabbitmq-server, epmd or erl is not on PATH')
  const root = await cached('rabbitmq', (folder) => unpack('rabbitmq-server', packages, folder))
  const erlang = join(root, 'usr', 'lib', 'erlang')
  const [binaries] = globSync(join(erlang, 'erts-*', 'bin'))
  return {
    server: join(root, 'usr', 'lib', 'rabbitmq', 'bin', 'rabbitmq-server'),
    erlang: writeErlScript(root, erlang, binaries as string),
    epmd: join(binaries as string, 'epmd'),
  }
}

/** Writes an `erl` script for the unpacked folder, because Debian's script only works in its installed location. */
function writeErlScript(root: string, erlang: string, binaries: string): string {
  const file = join(root, 'bin', 'erl')
  mkdirSync(dirname(file), { recursive: true })
  const script = `#!/bin/sh\nexport EMU=beam PROGNAME=erl ROOTDIR='${erlang}' BINDIR='${binaries}'\nexec "$BINDIR/erlexec" "$@"\n`
  writeFileSync(file, script, { mode: 0o755 })
  return dirname(file)
}
