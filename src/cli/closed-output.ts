/**
 * A reader that has seen enough (`bellwire demo | head -5`) is no error: what runs until it is stopped stops, anything else ends with
 * what it has found.
 */
export function endWithReader(): void {
  let gone = false
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (gone) return
    if (error.code !== 'EPIPE') throw error
    gone = true
    if (!process.emit('SIGTERM', 'SIGTERM')) process.exit()
  })
  // Progress that nobody reads.
  process.stderr.on('error', () => {})
}
