import { CliError, exit } from './exit.ts'

/**
 * Work that Ctrl-C and SIGTERM end by the signal that it is given.
 *
 * @param interrupted what a person is told then: how to go on
 * @example return await interruptible('interrupted; send the same file again to go on', (signal) => sendFile({ …, signal }))
 */
export async function interruptible<T>(interrupted: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const ended = new AbortController()
  const interrupt = (): void => ended.abort()
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt)
  try {
    return await work(ended.signal)
  } catch (error) {
    if (!ended.signal.aborted) throw error
    throw new CliError(exit.failed, interrupted)
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt)
  }
}

/** Resolves at the first Ctrl-C or SIGTERM; what a second one does is the caller's. */
export function signalled(): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      process.off('SIGINT', done).off('SIGTERM', done)
      resolve()
    }
    process.on('SIGINT', done).on('SIGTERM', done)
  })
}
