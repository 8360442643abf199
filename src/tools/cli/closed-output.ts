/**
 * Treats a closed pipe (`bellwire demo | head -5`) as a request to stop, not as an error: a running server is stopped as by
 * SIGTERM, any other command exits.
 */
export function stopOnClosedOutput(): void {
  let closed = false
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (closed) return
    if (error.code !== 'EPIPE') throw error
    closed = true
    if (!process.emit('SIGTERM', 'SIGTERM')) process.exit()
  })
  // Progress output may be lost.
  process.stderr.on('error', () => {})
}
