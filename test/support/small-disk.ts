// A file system of a few megabytes in memory, to fill it. Mounting needs root, as in a container.

import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface SmallDisk {
  readonly folder: string
  /** Fills the disk to the last byte. */
  fill(): void
  /** Deletes what fill() has written. */
  free(): void
  remove(): void
}

/** @throws an error that names the reason if this process cannot mount a file system */
export function mountSmallDisk(megabytes: number): SmallDisk {
  const folder = mkdtempSync(join(tmpdir(), 'bellwire-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=700`, 'bellwire', folder], { stdio: 'pipe' })
  } catch (error) {
    rmSync(folder, { recursive: true })
    throw new Error(`a small file system cannot be mounted; run as root: ${(error as Error).message}`, { cause: error })
  }
  const filler = join(folder, 'filler')
  const remove = (): void => {
    process.off('exit', remove)
    execFileSync('umount', ['--lazy', folder])
    rmSync(folder, { recursive: true, force: true })
  }
  // Ctrl-C ends a proof without its clean-up.
  process.on('exit', remove)
  return {
    folder,
    fill() {
      const file = openSync(filler, 'a')
      try {
        for (let bytes = 65_536; bytes >= 1; bytes = bytes / 2) writeUntilFull(file, bytes)
      } finally {
        closeSync(file)
      }
    },
    free: () => rmSync(filler, { force: true }),
    remove,
  }
}

function writeUntilFull(file: number, bytes: number): void {
  const block = Buffer.alloc(bytes, 1)
  try {
    while (writeSync(file, block) === bytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  }
}
