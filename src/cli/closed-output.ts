/**
 * A closed output (`bellwire demo | head -5`) is not an error: a server stops, any other command ends with
 * its exit code so far.
 */
export function endWithReader(): void {
  let gone = false
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (gone) return
    if (error.code !== 'EPIPE') throw error
    gone = true
    if (!process.emit('SIGTERM', 'SIGTERM')) process.exit()
  })
  // Progress without a reader.
  process.stderr.on('error', () => {})
}
