// The download cache of the test services: one for each user of the machine, shared by all checkouts.

import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { makeFolder } from '../../../src/base/runtime/make-folder.ts'

/**
 * Returns the folder of that name, and fills it the first time. `fill` works in a temporary folder that is renamed when it is
 * complete, so that concurrent processes do not collide and a killed one leaves no incomplete folder.
 */
export async function cached(name: string, fill: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(cacheRoot(), 'bellwire-test', name)
  if (existsSync(folder)) return folder
  try {
    makeFolder(dirname(folder))
  } catch (error) {
    throw new Error(
      `the download cache ${dirname(folder)} cannot be made (${(error as Error).message}): set XDG_CACHE_HOME to a folder that this user may write`,
      { cause: error },
    )
  }
  const partial = mkdtempSync(`${folder}.part-`)
  try {
    await fill(partial)
    renameSync(partial, folder)
  } catch (error) {
    rmSync(partial, { recursive: true, force: true })
    if (!existsSync(folder)) throw error
  }
  return folder
}

function cacheRoot(): string {
  if (process.env.XDG_CACHE_HOME) return process.env.XDG_CACHE_HOME
  return process.platform === 'darwin' ? join(homedir(), 'Library', 'Caches') : join(homedir(), '.cache')
}
