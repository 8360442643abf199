import { exit } from './exit.ts'

/**
 * Treats a closed pipe (`bellwire demo | head -5`) as a request to stop, not as an error: a running server is stopped as by
 * SIGTERM, any other command exits. Any other error of the output, such as a full disk, also fails the command.
 */
export function stopOnClosedOutput(): void {
  let closed = false
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (closed) return
    closed = true
    if (error.code !== 'EPIPE') {
      console.error(`bellwire: the output cannot be written: ${error.message}`)
      process.exitCode = exit.failed
    }
    if (!process.emit('SIGTERM', 'SIGTERM')) process.exit()
  })
  // Progress output may be lost.
  process.stderr.on('error', () => {})
}
