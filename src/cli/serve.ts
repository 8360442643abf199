import { secretsOf } from '../config/print.ts'
import type { Config } from '../config/table.ts'
import { type Events, emit } from '../runtime/events.ts'
import { type Listening, type ListenOptions, listen, type Side } from '../runtime/http.ts'
import { type Log, startLog } from '../runtime/log.ts'
import { metrics } from '../runtime/metrics.ts'
import { chain, type Handler } from '../runtime/mount.ts'
import type { Service } from '../runtime/service.ts'
import { CliError, exit } from './exit.ts'
import { signalled } from './interruptible.ts'
import { storeError } from './store-error.ts'

interface Address {
  readonly host: string
  readonly port: number
}

interface Settings extends Address {
  readonly connections: number
  readonly stop_within: number
  readonly admin?: Address
}

/**
 * Runs one side until SIGTERM or SIGINT: log and metrics first, then the store, then the port, because what listens must be
 * able to answer; stopping goes the other way and is bounded, a second signal ends at once. An uncaught error, for example in a
 * user's module, is logged and stops the side the same way: the supervisor starts it again.
 */
export async function serve(
  description: Events['server.starting'],
  settings: Settings,
  config: Config,
  create: () => Promise<Service>,
): Promise<void> {
  const { side } = description
  const { level, format } = config.log
  const asText = format === 'text' || (format === 'auto' && process.stdout.isTTY === true)
  const log = startLog({ level, format: asText ? 'text' : 'json', secrets: secretsOf(config) })
  const failed = uncaught()
  try {
    metrics()
    emit('server.starting', description)
    const served = await create()
    const stopped = signalled()
    await served.start().catch((error: unknown) => {
      throw storeError(error, side)
    })
    const listening = await listenFor(side, served, settings).catch(async (error: unknown) => {
      log.stop() // it did not run, so it does not say that it stops
      await served.stop(0).catch(() => {})
      throw error
    })
    await Promise.race([stopped, failed])
    process.once('SIGINT', () => endNow(log, exit.failed)).once('SIGTERM', () => endNow(log, exit.failed))
    // Not kept alive by this, but ended by it: what a provider still holds open must not hold the process.
    setTimeout(() => {
      console.error(
        `bellwire: not everything ended within ${side}.stop_within; what is unfinished goes on at the next start`,
      )
      endNow(log, exit.failed)
    }, settings.stop_within + 1_000).unref()
    // Together: requests under way need the side to be answered, and the side must see that no more come.
    const closing = listening.map((each) => each.close(settings.stop_within))
    await Promise.all([...closing, served.stop(settings.stop_within)])
  } finally {
    log.stop()
  }
}

/** Everything on one port; with `admin`, administration on an address of its own. */
async function listenFor(
  side: Side,
  { handler, admin, health }: Service,
  { host, port, connections, admin: apart }: Settings,
): Promise<readonly Listening[]> {
  if (!apart) return [await listenAt(side, side, chain(handler, admin.handler), { host, port, connections })]
  const first = await listenAt(side, side, chain(handler, health.handler), { host, port, connections })
  const second = listenAt(`${side}.admin`, side, admin.handler, { ...apart, part: 'admin' })
  return [
    first,
    await second.catch(async (error: unknown) => {
      await first.close(0)
      throw error
    }),
  ]
}

/** @param setting where host and port stand in the configuration */
function listenAt(
  setting: string,
  side: Side,
  handler: Handler,
  options: ListenOptions & { readonly host: string; readonly port: number },
): Promise<Listening> {
  return listen(side, handler, options).catch((error: Error) => {
    throw notListening(setting, options, error)
  })
}

function notListening(setting: string, { host, port }: { host: string; port: number }, error: Error): CliError {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return new CliError(
      exit.usage,
      `${setting}.host: ${host} is no address of this machine: write 127.0.0.1, an address that it has, or 0.0.0.0 for all of them`,
    )
  const remedy = code === 'EACCES' ? `: this user may not listen on port ${port}, choose one from 1024 up` : ''
  return new CliError(exit.usage, `${setting}.port: ${error.message}${remedy}`)
}

/** Resolves at the first uncaught error; the process will end with an error. */
function uncaught(): Promise<void> {
  return new Promise((resolve) => {
    const fail = (thrown: unknown): void => {
      const { message, stack = message } = thrown instanceof Error ? thrown : new Error(String(thrown))
      emit('process.failed', { error: message, stack })
      process.exitCode = exit.failed
      resolve()
    }
    process.on('uncaughtException', fail).on('unhandledRejection', fail)
  })
}

function endNow(log: Log, code: number): never {
  log.stop()
  process.exit(code)
}
