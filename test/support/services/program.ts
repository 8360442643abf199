// Programs that a test service needs: found, run to their end, or run as a server of ours.

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
  /** Five minutes: a download over a slow line. */
  readonly withinMs?: number
}

/** Runs a program to its end. @returns what it wrote; rejects with its last words where it failed */
export async function run(program: string, args: readonly string[], options: Run = {}): Promise<string> {
  const { withinMs = 300_000, ...rest } = options
  const child = spawn(program, args, { ...rest, stdio: ['ignore', 'pipe', 'pipe'], timeout: withinMs })
  let said = ''
  let complained = ''
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk
  })
  child.stderr.on('data', (chunk: Buffer) => {
    complained = (complained + chunk).slice(-2_000)
  })
  const [code, signal] = await once(child, 'close')
  if (code === 0) return said
  throw new Error(
    `${program} ${args[0] ?? ''} ended with ${signal ?? code}: ${(complained || said).trim().slice(-2_000)}`,
  )
}

export interface ServerOptions {
  readonly program: string
  readonly args: readonly string[]
  readonly env?: NodeJS.ProcessEnv
  /** It writes here, and nowhere else; removed when it ends for good, also when we are killed. */
  readonly folder: string
  /** A line of its output that says that it is ready. */
  readonly ready?: RegExp
  readonly withinMs?: number
}

export interface Server {
  readonly pid: number
  /** Ends it at once; `keep` leaves its folder for the next one. */
  end(keep?: 'keep'): Promise<void>
}

/** Resolves when it is ready. It never outlives this process: a shell between us ends it when our end of the pipe closes. */
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
  const pid = await isReady(shell, ready, withinMs).catch((error: Error) => {
    shell.stdin?.end()
    throw new Error(`${program} ${error.message}`)
  })
  // It may not keep the process from ending.
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

function isReady(shell: ChildProcess, ready: RegExp | undefined, withinMs: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const last: string[] = []
  const say = (what: string): void => reject(new Error(`${what}:\n${last.join('\n')}`))
  const late = setTimeout(() => say(`was not ready within ${withinMs} ms`), withinMs)
  let pid: number | undefined
  // Read to the end of its life: a full pipe would stop it. The shell has closed its own end of it.
  createInterface({ input: shell.stdout as NodeJS.ReadableStream })
    .on('line', (line) => {
      if (pid === undefined) pid = Number(/^pid (\d+)$/.exec(line)?.[1])
      else if (last.push(line) > 20) last.shift()
      if (!ready || ready.test(line)) resolve(pid)
    })
    .once('close', () => say('ended'))
  return promise.finally(() => clearTimeout(late))
}

/** A port that was free may be somebody else's a moment later: with other ports, it may work. */
export async function atThirdTry<T>(start: () => Promise<T>): Promise<T> {
  for (let left = 2; ; left--) {
    try {
      return await start()
    } catch (error) {
      if (left === 0) throw error
    }
  }
}
