import { isLoopbackAddress } from '../../base/http/address.ts'
import {
  type Handler,
  HttpError,
  type Listening,
  type ListenOptions,
  listen,
  type ServerCertificate,
  type Side,
} from '../../base/http/http.ts'
import { chain } from '../../base/http/mount.ts'
import type { Configuration, Reloaded, Service } from '../../base/http/service.ts'
import { type Events, emit } from '../../base/runtime/events.ts'
import { type Log, startLog } from '../../base/runtime/log.ts'
import { messageOf } from '../../base/runtime/message-of.ts'
import { metrics } from '../../base/runtime/metrics.ts'
import { serverCertificate } from '../../sides/config/compose/services/address.ts'
import { type ReadConfig, readConfig } from '../../sides/config/load.ts'
import { secretsOf } from '../../sides/config/print.ts'
import type { Config } from '../../sides/config/table.ts'
import type { ActRecorder } from '../../subjects/audit/trail.ts'
import { CliError, exit } from './exit.ts'
import { type Reloads, waitForSignal } from './interruptible.ts'
import { createConfiguration } from './reload.ts'
import { createReplaceable, type Replaceable } from './replaceable.ts'
import { storeError } from './store-error.ts'
import { startTracing, type Tracing } from './tracing.ts'

/** At the end, the last spans are exported within this time. */
const exportWithinMs = 500
/** A reload waits this long for requests in progress, and again for calls in progress. Callers wait meanwhile. */
const replaceWithinMs = 5_000

interface Address {
  readonly host: string
  readonly port: number
}

type Create = (read: ReadConfig, process: ServedProcess) => Promise<CreatedSide>

/** The process of a side. */
export interface ServedProcess {
  readonly configuration: Configuration
  /** Applies the same configuration again, because the lanes of the store have changed. */
  applyAgain(): Promise<void>
  /** Shows the configuration with the lanes of the store, and masks its secrets in the log. */
  show(read: ReadConfig): void
}

/** A side that has not started yet. */
interface CreatedSide {
  readonly service: Service & ActRecorder
  /**
   * Changes the keys and lanes of the running side. Rejects before it changes anything.
   *
   * @param merged with the lanes of the store
   * @returns false: nothing was changed, because the side must be replaced
   */
  readonly change: (read: ReadConfig, merged: ReadConfig) => Promise<boolean>
  /** Rejects if the store contradicts this configuration. @returns the configuration with the lanes of the store, if there are any */
  readonly checkStore: (read: ReadConfig) => Promise<ReadConfig | undefined>
}

interface Settings extends Address {
  readonly connections: number
  readonly connectionsPerAddress: number
  readonly trustedProxies: readonly string[]
  readonly stopWithinMs: number
  readonly admin?: Address | undefined
  readonly tls?: { readonly certificate: string; readonly key: string } | undefined
}

/**
 * Runs one side until SIGTERM or SIGINT. It starts the log and the metrics, then opens the store, then the port, so that the side
 * can answer as soon as it listens. A stop goes in reverse order, within a grace period; a second signal exits immediately. An
 * uncaught error, for example in a user's module, is logged and stops the side in the same way: the process supervisor restarts
 * it.
 */
export async function serve(
  description: Events['server.starting'],
  settings: Settings,
  started: ReadConfig,
  file: string | undefined,
  reloads: Reloads,
  create: Create,
): Promise<void> {
  const { side } = description
  const { config } = started
  let shown: ReadConfig | undefined
  let log = startLogOf(config)
  const secrets = new Set(secretsOf(config))
  // Also all earlier secrets: a provider may still answer with one of them.
  const restartLog = (next: Config): void => {
    for (const each of [next, ...(shown ? [shown.config] : [])])
      for (const secret of secretsOf(each)) secrets.add(secret)
    log.stop()
    log = startLogOf(next, [...secrets])
  }
  const { failed, fail } = watchUncaughtErrors()
  let tracing: Tracing | undefined
  try {
    tracing = startTracing(side)
    metrics()
    emit('server.starting', description)
    if (process.getuid?.() === 0) emit('process.as_root', { side })
    let running: CreatedSide | undefined
    let replaceable: Replaceable | undefined
    let listening: readonly Listening[] = []
    let replacing: Promise<void> | undefined
    let applied = started
    let isStopping = false
    const configuration = createConfiguration({
      side,
      started,
      read: () => readConfig(file),
      replacing: () => replacing,
      async apply(next, how, undo) {
        if (!running || !replaceable) throw new CliError(exit.failed, `the ${side} is starting: reload it later`)
        const merged = await running.checkStore(next)
        const certificate = await serverCertificate(next.config[side]?.tls, `${side}.tls`)
        if (how === 'replaceSide' || !(await running.change(next, merged ?? next))) {
          const previous = applied
          const created = await create(next, served)
          await running.service.checkStores().catch((error: unknown) => {
            const cause = `the store is away, and without it no side can start (${messageOf(error)})`
            throw new HttpError(503, `nothing was changed: ${cause}: reload later`)
          })
          // The stop waits for a replacement that has begun, and no other one begins.
          if (isStopping) throw new HttpError(503, `the ${side} is stopping: nothing was changed`)
          replacing = replaceSide(replaceable, created, async (error) => {
            undo(error)
            applied = previous
            restartLog(previous.config)
            const again = await create(previous, served)
            await again.service.start()
            return again
          })
          // Neither side runs: the process supervisor starts the process again.
          replacing.then(() => (replacing = undefined), fail)
        }
        if (certificate) for (const each of listening) each.replaceCertificate?.(certificate)
        applied = next
        shown = merged
        restartLog(next.config)
      },
      shown: () => shown,
    })
    const served: ServedProcess = {
      configuration,
      applyAgain: configuration.applyAgain,
      show(read) {
        shown = read
        restartLog(read.config)
      },
    }
    /** The answer of a reload is sent first: so it is not awaited. */
    const replaceSide = (
      replaced: Replaceable,
      next: CreatedSide,
      startAgain: (error: unknown) => Promise<CreatedSide>,
    ): Promise<void> =>
      replaced.replace(
        async () => {
          const started = await startOr(next, startAgain)
          running = started
          return started.service
        },
        Math.min(settings.stopWithinMs, replaceWithinMs),
      )
    async function recordReload(result: Reloaded | { readonly refused: string }): Promise<void> {
      // A new side replaces the running one.
      await replacing?.catch(() => {})
      await running?.service.recordAct({ act: 'reload', by: 'SIGHUP', given: result }).catch((error: unknown) => {
        emit('audit.failed', { side, act: 'reload', error: messageOf(error) })
      })
    }
    const certificate = await serverCertificate(settings.tls, `${side}.tls`)
    running = await create(started, served)
    const { service } = running
    const stopped = waitForSignal()
    await service.start().catch((error: unknown) => {
      throw storeError(error, side)
    })
    replaceable = createReplaceable(service)
    listening = await listenFor(side, replaceable, settings, certificate).catch(async (error: unknown) => {
      log.stop() // the side never ran, so no stop is logged
      await service.stop(0).catch(() => {})
      throw error
    })
    reloads.onEach(
      () => void configuration.reloadLater().then(recordReload, (error) => recordReload({ refused: messageOf(error) })),
    )
    await Promise.race([stopped, failed])
    isStopping = true
    process.once('SIGINT', () => exitNow(log, exit.failed)).once('SIGTERM', () => exitNow(log, exit.failed))
    // Exits even if a provider keeps a handle open. The timer itself does not keep the process alive.
    setTimeout(() => {
      console.error(
        `bellwire: the stop took longer than ${side}.stop_within; unfinished work continues after the next start`,
      )
      exitNow(log, exit.failed)
    }, settings.stopWithinMs + 1_000).unref()
    // Concurrently: open requests need the side for their answers, and the side waits until no more requests arrive.
    const closing = listening.map((each) => each.close(settings.stopWithinMs))
    await replacing?.catch(() => {})
    await Promise.all([...closing, replaceable.current.stop(settings.stopWithinMs)])
  } finally {
    // The SDK repeats its request for some seconds, and these repetitions must not keep the process alive.
    if ((await tracing?.stop(exportWithinMs)) === false) setTimeout(() => process.exit(), 200).unref()
    log.stop()
  }
}

/** Starts a side; if it does not start, another one. */
function startOr(next: CreatedSide, otherwise: (error: unknown) => Promise<CreatedSide>): Promise<CreatedSide> {
  return next.service.start().then(() => next, otherwise)
}

function startLogOf(config: Config, further: readonly string[] = []): Log {
  const { level, format } = config.log
  const asText = format === 'text' || (format === 'auto' && process.stdout.isTTY === true)
  return startLog({ level, format: asText ? 'text' : 'json', secrets: [...secretsOf(config), ...further] })
}

/** Listens on one port; with `admin`, the routes that the other party does not need have a separate address. */
async function listenFor(
  side: Side,
  { handlerOf }: Replaceable,
  settings: Settings,
  certificate: ServerCertificate | undefined,
): Promise<readonly Listening[]> {
  const { host, port, connections, admin: adminAddress } = settings
  const limits = {
    connectionsPerAddress: settings.connectionsPerAddress,
    trustedProxies: settings.trustedProxies,
  }
  if (!adminAddress) {
    const rest = hasConsole(host) ? 'admin' : 'adminForPrograms'
    const both = handlerOf((service) => chain(service.handler, service[rest].handler))
    return [await listenAt(side, side, both, { host, port, connections, certificate, ...limits })]
  }
  const ofMain = handlerOf(({ handler, health }) => chain(handler, health.handler))
  const main = await listenAt(side, side, ofMain, { host, port, connections, certificate, ...limits })
  const ofAdmin = handlerOf(({ admin }) => admin.handler)
  const separate = listenAt(`${side}.admin`, side, ofAdmin, { ...adminAddress, part: 'admin', ...limits })
  return [
    main,
    await separate.catch(async (error: unknown) => {
      await main.close(0)
      throw error
    }),
  ]
}

/**
 * Whether an address that the interface also has serves the console. The other party and the apps reach any address but a loopback
 * address: people must not type keys there.
 */
export const hasConsole = (host: string): boolean => isLoopbackAddress(host) || host === 'localhost'

/** @param setting the path of the settings host and port */
function listenAt(
  setting: string,
  side: Side,
  handler: Handler,
  options: ListenOptions & { readonly host: string; readonly port: number },
): Promise<Listening> {
  return listen(side, handler, options).catch((error: Error) => {
    throw listenError(setting, options, error)
  })
}

function listenError(setting: string, { host, port }: { host: string; port: number }, error: Error): CliError {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return new CliError(
      exit.usage,
      `${setting}.host: ${host} is not an address of this machine: write 127.0.0.1, another of its addresses, or 0.0.0.0 for all`,
    )
  const remedy = code === 'EACCES' ? `: this user may not listen on port ${port}; choose a port from 1024` : ''
  return new CliError(exit.usage, `${setting}.port: ${error.message}${remedy}`)
}

/** `failed` resolves at the first uncaught error, or after `fail`, which also sets the exit code. */
function watchUncaughtErrors() {
  const { promise: failed, resolve } = Promise.withResolvers<void>()
  const fail = (thrown: unknown): void => {
    const { message, stack = message } = thrown instanceof Error ? thrown : new Error(String(thrown))
    emit('process.failed', { error: message, stack })
    process.exitCode = exit.failed
    resolve()
  }
  process.on('uncaughtException', fail).on('unhandledRejection', fail)
  return { failed, fail }
}

function exitNow(log: Log, code: number): never {
  log.stop()
  process.exit(code)
}
