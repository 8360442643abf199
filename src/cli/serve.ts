import { secretsOf } from '../config/print.ts'
import type { Config } from '../config/table.ts'
import { type Events, emit } from '../runtime/events.ts'
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
 * able to answer; stopping goes the other way and is bounded, a second signal ends at once.
 */
export async function serve(
  description: Events['server.starting'],
  settings: { readonly host: string; readonly port: number; readonly stop_within: number },
  config: Config,
  create: () => Promise<Served>,
): Promise<void> {
  const { side } = description
  const { level, format } = config.log
  const asText = format === 'text' || (format === 'auto' && process.stdout.isTTY === true)
  const log = startLog({ level, format: asText ? 'text' : 'json', secrets: secretsOf(config) })
  try {
    metrics()
    emit('server.starting', description)
    const served = await create()
    const stopped = signalled()
    await served.start().catch((error: unknown) => {
      throw storeError(error, side)
    })
    const listening = await listen(side, served.handler, settings).catch(async (error: Error) => {
      log.stop() // it did not run, so it does not say that it stops
      await served.stop(0).catch(() => {})
      throw notListening(side, settings, error)
    })
    await stopped
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

function notListening(side: Side, { host, port }: { host: string; port: number }, error: Error): CliError {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return new CliError(
      exit.usage,
      `${side}.host: ${host} is no address of this machine: write 127.0.0.1, an address that it has, or 0.0.0.0 for all of them`,
    )
  const remedy = code === 'EACCES' ? `: this user may not listen on port ${port}, choose one from 1024 up` : ''
  return new CliError(exit.usage, `${side}.port: ${error.message}${remedy}`)
}

function endNow(log: Log, code: number): never {
  log.stop()
  process.exit(code)
}
