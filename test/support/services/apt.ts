// Installs Debian packages. apt-get locks its lists, and neither apt-get nor apt-cache waits for the lock. So all processes of
// the tests install packages through this file, which serializes them with a lock of its own. A process updates the lists once.

import { chmodSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isRoot, run } from './program.ts'

/** The command for a person to install these packages. */
export const installing = (...packages: readonly string[]): string =>
  `apt-get update && apt-get install -y --no-install-recommends ${packages.join(' ')}`

/** Installs packages. Only root can do that. */
export async function install(...packages: readonly string[]): Promise<void> {
  await update()
  await runLocked(`apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=300 ${packages.join(' ')}`)
}

async function download(name: string, needs: RegExp, folder: string): Promise<void> {
  const depends = 'apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces'
  const archives = `$(${depends} --no-enhances ${name} | grep -E '${needs.source}' | sort -u)`
  if (isRoot()) await update()
  await runLocked(`apt-get download ${archives}`, folder)
}

/** Unpacks the archives of a package and of its matching dependencies into a folder. Nothing is installed, and no service starts. */
export async function unpack(name: string, needs: RegExp, folder: string): Promise<void> {
  // For root, apt downloads as another user, who must be able to write to this folder.
  if (isRoot()) chmodSync(folder, 0o777)
  await download(name, needs, folder)
  chmodSync(folder, 0o755)
  for (const file of readdirSync(folder).filter((each) => each.endsWith('.deb'))) {
    await run('dpkg-deb', ['-x', file, '.'], { cwd: folder })
    rmSync(join(folder, file))
  }
}

let updated: Promise<void> | undefined

/** Repeats a failed update, because a machine that has just started may be running its own apt-get. */
const update = (): Promise<void> =>
  (updated ??= runLocked('for again in 1 2 3 4 5 end; do apt-get update && break; [ $again != end ] && sleep 10; done'))

async function runLocked(script: string, cwd = tmpdir()): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  await run('flock', [join(tmpdir(), 'bellwire-apt.lock'), 'sh', '-c', script], { cwd, env, withinMs: 900_000 })
}
