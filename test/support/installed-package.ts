// The published package, installed into an empty folder.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { run } from './services/program.ts'
import type { Service } from './services/service.ts'

const root = join(import.meta.dirname, '../..')
// Puts this version of Node.js first on PATH for npm's scripts.
const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}`, NODE_OPTIONS: '' }

export interface Packed {
  readonly tarball: string
  /** The paths of its files. */
  readonly paths: readonly string[]
  remove(): Promise<void>
}

export async function pack(): Promise<Packed> {
  const folder = await mkdtemp(join(tmpdir(), 'bellwire-packed-'))
  const output = await run('npm', ['pack', root, '--json', '--pack-destination', folder], { cwd: folder, env })
  const [{ filename, files }] = JSON.parse(output.slice(output.indexOf('['))) as [
    { filename: string; files: { path: string }[] },
  ]
  return {
    tarball: join(folder, filename),
    paths: files.map(({ path }) => path),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

/** The service's address is the folder of a project that has the package installed. */
export function installedPackage({ tarball }: Packed): Service<object> {
  return {
    name: 'The installed package',
    variable: 'BELLWIRE_TEST_INSTALLED',
    proves: 'that the published package installs, and runs on every Node that it supports',
    command: 'npm test, on a machine that can reach the npm registry',
    async start() {
      const folder = await mkdtemp(join(tmpdir(), 'bellwire-installed-'))
      await writeFile(join(folder, 'package.json'), '{"name":"example","type":"module","private":true}')
      await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', tarball], { cwd: folder, env })
      return { address: folder, stop: () => rm(folder, { recursive: true, force: true }) }
    },
  }
}
