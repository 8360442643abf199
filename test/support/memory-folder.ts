// The files of a run are in memory, where the machine has the space: on a disk, a new schema of PostgreSQL costs three times the
// processor time, since each of its tables is several files. A kill of a process loses nothing there either.

import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'

const memory = '/dev/shm'
/** A whole run needs less than half of it. */
const leastBytes = 6 * 2 ** 30

/** Puts the temporary files of this process and its children into memory until it ends. Does nothing on a machine without the space. */
export function useMemoryFolder(): void {
  if (!hasSpace()) return
  for (const name of readdirSync(memory)) {
    const [, pid] = /^bellwire-tests-(\d+)$/.exec(name) ?? []
    if (pid !== undefined && !isAlive(Number(pid))) rmSync(join(memory, name), { recursive: true, force: true })
  }
  const folder = join(memory, `bellwire-tests-${process.pid}`)
  mkdirSync(folder)
  // PostgreSQL and apt run as other users.
  chmodSync(folder, 0o755)
  process.env.TMPDIR = folder
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
}

function hasSpace(): boolean {
  try {
    const { bavail, bsize } = statfsSync(memory)
    const [, options] = new RegExp(`^\\S+ ${memory} tmpfs (\\S+)`, 'm').exec(readFileSync('/proc/mounts', 'utf8')) ?? []
    const runsPrograms = options !== undefined && !options.split(',').includes('noexec')
    return runsPrograms && Math.min(bavail * bsize, process.availableMemory()) >= leastBytes
  } catch {
    return false // another system than Linux
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
