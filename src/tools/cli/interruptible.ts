import { CliError, exit } from './exit.ts'

/**
 * Runs the work with an AbortSignal that Ctrl-C and SIGTERM abort.
 *
 * @param interrupted the error message after an interrupt, with the way to continue
 * @example return await interruptible('interrupted; send the same file again to continue', (signal) => sendFile({ …, signal }))
 */
export async function interruptible<T>(interrupted: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const interrupt = (): void => controller.abort()
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt)
  try {
    return await work(controller.signal)
  } catch (error) {
    if (!controller.signal.aborted) throw error
    throw new CliError(exit.failed, interrupted)
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt)
  }
}

/** Calls a function at each SIGHUP. */
export interface Reloads {
  /** Once at once, if there was a SIGHUP before. */
  onEach(reload: () => void): void
}

/** Notes each SIGHUP from now on. Without a listener, the signal would end the process. */
export function watchReloads(): Reloads {
  let noted = false
  let reload = (): void => {
    noted = true
  }
  process.on('SIGHUP', () => reload())
  return {
    onEach(work) {
      reload = work
      if (noted) work()
    },
  }
}

/** Resolves at the first Ctrl-C or SIGTERM. The caller handles a second one. */
export function waitForSignal(): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      process.off('SIGINT', done).off('SIGTERM', done)
      resolve()
    }
    process.on('SIGINT', done).on('SIGTERM', done)
  })
}
