// Finds the programs of the test services, runs them to completion, or runs them as servers.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'

export function findProgram(name: string, elsewhere: readonly string[] = []): string | undefined {
  const onPath = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name))
  return [...elsewhere, ...onPath].find((path) => {
    try {
      accessSync(path, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

export const isDebian = (): boolean => existsSync('/etc/debian_version') && findProgram('apt-get') !== undefined
export const isRoot = (): boolean => process.getuid?.() === 0

export interface Run {
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  /** The user that runs the program. */
  readonly uid?: number
  readonly gid?: number
  /** Default: five minutes, for a download over a slow connection. */
  readonly withinMs?: number
}

/** Runs a program to completion. @returns its output; on failure, rejects with the end of its output */
export async function run(program: string, args: readonly string[], options: Run = {}): Promise<string> {
  const { withinMs = 300_000, ...rest } = options
  const child = spawn(program, args, { ...rest, stdio: ['ignore', 'pipe', 'pipe'], timeout: withinMs })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk
  })
  child.stderr.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk).slice(-2_000)
  })
  const [code, signal] = await once(child, 'close')
  if (code === 0) return stdout
  throw new Error(
    `${program} ${args[0] ?? ''} ended with ${signal ?? code}: ${(stderr || stdout).trim().slice(-2_000)}`,
  )
}

export interface ServerOptions {
  readonly program: string
  readonly args: readonly string[]
  readonly env?: NodeJS.ProcessEnv
  /** The only folder in which the server writes. Removed when the server ends for good, even if this process is killed. */
  readonly folder: string
  /** Matches the line of its output that reports that it is ready. */
  readonly ready?: RegExp
  readonly withinMs?: number
}

export interface Server {
  readonly pid: number
  /** Kills the server; `keep` leaves its folder for a restart. */
  end(keep?: 'keep'): Promise<void>
}

/** Resolves when the server is ready. A shell kills it when our end of the pipe closes, so it never outlives this process. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { program, args, env = process.env, folder, ready, withinMs = 90_000 } = options
  const guard =
    '"$@" 2>&1 < /dev/null & server=$!; echo "pid $server"; exec > /dev/null; read -r word; ' +
    'kill -KILL $server 2> /dev/null; wait $server 2> /dev/null; [ "$word" = keep ] || rm -rf "$FOLDER"'
  const shell = spawn('/bin/sh', ['-c', guard, 'sh', program, ...args], {
    cwd: folder,
    env: { ...env, FOLDER: folder },
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
  })
  const pid = await waitUntilReady(shell, ready, withinMs).catch((error: Error) => {
    shell.stdin?.end()
    throw new Error(`${program} ${error.message}`)
  })
  // The shell and its pipes must not keep this process alive.
  shell.unref()
  for (const stream of [shell.stdin, shell.stdout]) (stream as unknown as { unref(): void }).unref()
  return {
    pid,
    async end(keep) {
      if (shell.exitCode !== null || shell.signalCode !== null || shell.stdin?.writableEnded) return
      shell.ref()
      const exit = once(shell, 'exit')
      shell.stdin?.end(keep ? 'keep\n' : '')
      await exit
    },
  }
}

function waitUntilReady(shell: ChildProcess, ready: RegExp | undefined, withinMs: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const last: string[] = []
  const fail = (reason: string): void => reject(new Error(`${reason}:\n${last.join('\n')}`))
  const late = setTimeout(() => fail(`was not ready within ${withinMs} ms`), withinMs)
  let pid: number | undefined
  // The output is read until the server ends, because a full pipe would block it. (The shell has closed its own end.)
  createInterface({ input: shell.stdout as NodeJS.ReadableStream })
    .on('line', (line) => {
      if (pid === undefined) pid = Number(/^pid (\d+)$/.exec(line)?.[1])
      else if (last.push(line) > 20) last.shift()
      if (!ready || ready.test(line)) resolve(pid)
    })
    .once('close', () => fail('ended'))
  return promise.finally(() => clearTimeout(late))
}

/** Tries to start a server up to three times, each with new ports: a free port may be taken before the server binds it. */
export async function tryThreeTimes<T>(start: () => Promise<T>): Promise<T> {
  for (let left = 2; ; left--) {
    try {
      return await start()
    } catch (error) {
      if (left === 0) throw error
    }
  }
}
