// What test services are downloaded into: once for each person, shared by all checkouts, below the operating system's own cache.

import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

/**
 * The folder of that name, filled once. `fill` works in a folder beside it, which takes the name when it is whole: two
 * processes that fill at once do not meet, and one that was killed leaves nothing half done.
 */
export async function cached(name: string, fill: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(caches(), 'bellwire-test', name)
  if (existsSync(folder)) return folder
  mkdirSync(dirname(folder), { recursive: true })
  const filling = mkdtempSync(`${folder}.part-`)
  try {
    await fill(filling)
    renameSync(filling, folder)
  } catch (error) {
    rmSync(filling, { recursive: true, force: true })
    if (!existsSync(folder)) throw error
  }
  return folder
}

function caches(): string {
  if (process.env.XDG_CACHE_HOME) return process.env.XDG_CACHE_HOME
  return process.platform === 'darwin' ? join(homedir(), 'Library', 'Caches') : join(homedir(), '.cache')
}
