import { secretsOf } from '../config/print.ts'
import type { Config } from '../config/table.ts'
import { emit } from '../runtime/events.ts'
import { type Handler, listen, type Side } from '../runtime/http.ts'
import { type Log, startLog } from '../runtime/log.ts'
import { metrics } from '../runtime/metrics.ts'
import { CliError, exit } from './exit.ts'
import { signalled } from './interruptible.ts'
import { storeError } from './store-error.ts'

interface Served {
  readonly handler: Handler
  start(): Promise<void>
  stop(withinMs?: number): Promise<void>
}

/**
 * Runs one side until SIGTERM or SIGINT: log and metrics first, then the store, then the port, because what listens must be
 * able to answer; stopping goes the other way and is bounded, a second signal ends at once. An error that nobody caught, such as a
 * user's module may cause, is logged and stops it the same way: whoever watches the process starts it again.
 */
export async function serve(
  side: Side,
  settings: { readonly host: string; readonly port: number; readonly stop_within: number },
  config: Config,
  create: () => Promise<Served>,
): Promise<void> {
  const { level, format } = config.log
  const asText = format === 'text' || (format === 'auto' && process.stdout.isTTY === true)
  const log = startLog({ level, format: asText ? 'text' : 'json', secrets: secretsOf(config) })
  const failed = uncaught()
  try {
    metrics()
    const served = await create()
    const stopped = signalled()
    await served.start().catch((error: unknown) => {
      throw storeError(error, side)
    })
    const listening = await listen(side, served.handler, settings).catch(async (error: Error) => {
      await served.stop(0).catch(() => {})
      throw new CliError(exit.usage, `${error.message} (${side}.port)`)
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
    await Promise.all([listening.close(settings.stop_within), served.stop(settings.stop_within)])
  } finally {
    log.stop()
  }
}

/** Resolves at the first error that nobody caught; the process will end with an error. */
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
