// Debian's packages. apt-get locks its lists, and neither it nor apt-cache waits for them: whoever installs for these tests does
// it here, one after the other, in whichever process.

import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isRoot, run } from './program.ts'

/** What a person types. */
export const installing = (...packages: readonly string[]): string =>
  `apt-get update && apt-get install -y --no-install-recommends ${packages.join(' ')}`

/** Only as root. */
export async function install(...packages: readonly string[]): Promise<void> {
  await locked(
    `${updated} && apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=300 ${packages.join(' ')}`,
  )
}

/** Fetches a package's archive, and those of what it needs, into a folder; installs nothing. */
export async function download(name: string, needs: RegExp, folder: string): Promise<void> {
  const depends = 'apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces'
  const wanted = `$(${depends} --no-enhances ${name} | grep -E '${needs.source}' | sort -u)`
  await locked(`${isRoot() ? `${updated} && ` : ''}apt-get download ${wanted}`, folder)
}

// On a machine that has just started, its own apt-get may be at work.
const updated = 'for again in 1 2 3 4 5 end; do apt-get update && break; [ $again != end ] && sleep 10; done'

async function locked(script: string, cwd = tmpdir()): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  await run('flock', [join(tmpdir(), 'bellwire-apt.lock'), 'sh', '-c', script], { cwd, env, withinMs: 900_000 })
}
