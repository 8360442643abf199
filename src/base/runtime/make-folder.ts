import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a folder, and those above it that are missing. The option `recursive` of Node's mkdir never ends where an existing folder
 * answers ENOENT, as /proc does.
 *
 * @param mode of each folder that is made
 */
export function makeFolder(path: string, mode = 0o777): void {
  try {
    mkdirSync(path, mode)
  } catch (error) {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return
    const parent = dirname(path)
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || existsSync(parent)) throw error
    makeFolder(parent, mode)
    makeFolder(path, mode)
  }
}
