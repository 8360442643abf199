// Runs the command outside of the test's process, like a user.

import { type ChildProcess, fork, spawn } from 'node:child_process'
import { openSync, readFileSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { importOptions } from '../support/quick-imports/import-options.ts'
import type { Done, Job } from './command-host.ts'

export const environment = { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, NO_COLOR: '1' }
const bin = join(import.meta.dirname, '../../bin/bellwire.cjs')
/** Starts the command of this checkout; its arguments follow. */
export const bellwire = [process.execPath, ...importOptions, '--conditions=bellwire-source', bin] as const

export interface Run {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export interface Started {
  readonly child: ChildProcess
  readonly ended: Promise<Run>
  /** Waits for the first line of standard output that matches. */
  line(pattern: RegExp): Promise<string>
  /** The standard output so far. */
  out(): string
  /** The standard error so far. */
  err(): string
}

/** Starts `bellwire …` of this checkout. */
export function start(
  t: TestContext,
  args: readonly string[],
  env?: NodeJS.ProcessEnv,
  input?: string,
  cwd?: string,
): Started {
  return startProgram(t, [...bellwire, ...args], env, input, cwd)
}

const mostMs = 240_000

/** Starts a program. It is killed when the test ends, or after four minutes. */
export function startProgram(
  t: TestContext,
  [program, ...args]: readonly [string, ...string[]],
  env: NodeJS.ProcessEnv = {},
  input?: string,
  cwd?: string,
): Started {
  const child = spawn(program, args, {
    env: { ...environment, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(cwd !== undefined && { cwd }),
    timeout: mostMs,
    killSignal: 'SIGKILL',
  })
  t.after(() => child.kill('SIGKILL'))
  child.stdin?.end(input)
  let out = ''
  let err = ''
  const watchers = new Set<() => void>()
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    out += text
    for (const watch of watchers) watch()
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (err += text))
  const ended = new Promise<Run>((resolve, reject) => {
    child.on('error', reject).on('close', (code) => {
      resolve({ code, out, err })
      for (const watch of watchers) watch()
    })
  })
  return {
    child,
    ended,
    out: () => out,
    err: () => err,
    line: (pattern) =>
      new Promise((resolve, reject) => {
        const watch = (): void => {
          const found = out
            .split('\n')
            .slice(0, -1)
            .find((line) => pattern.test(line))
          if (found !== undefined) resolve(found)
          else if (child.exitCode !== null)
            reject(new Error(`the process exited with ${child.exitCode} before ${pattern}: ${out}${err}`))
        }
        watchers.add(watch)
        watch()
      }),
  }
}

/** Free ports for both addresses of a configuration with `admin`. */
export const freePorts = { BELLWIRE_OPERATOR_PORT: '0', BELLWIRE_OPERATOR_ADMIN_PORT: '0' } as const
export const freePlatformPorts = { BELLWIRE_PLATFORM_PORT: '0', BELLWIRE_PLATFORM_ADMIN_PORT: '0' } as const

/** The addresses of a side with `admin`, from its log. */
export async function addressesOf(started: Started): Promise<{ url: string; admin: string }> {
  const [url = '', admin = ''] = await Promise.all(
    [/"server\.listening","side":"\w+","url"/, /"server\.listening","side":"\w+","part":"admin"/].map(
      async (line) => (JSON.parse(await started.line(line)) as { url: string }).url,
    ),
  )
  return { url, admin }
}

/**
 * Runs a command line that ends, also that of a side that does not start. The commands of a test process run in one other process,
 * one after another: a process takes 0.3 s of processor time to load a command, and 0.4 s to load a side. A command that has not ended
 * after four minutes is killed.
 */
export function run(args: readonly string[], env: NodeJS.ProcessEnv = {}, input = ''): Promise<Run> {
  const result = queue.then(() => runInHost({ args, env: { ...environment, ...env }, input }))
  queue = result.catch(() => {})
  return result
}

let queue: Promise<unknown> = Promise.resolve()
let host: ChildProcess | undefined
/** A side writes its log to the file descriptor of standard output. */
const log = join(tmpdir(), `bellwire-commands-${process.pid}.log`)
process.once('exit', () => rmSync(log, { force: true }))

async function runInHost(job: Job): Promise<Run> {
  host ??= fork(join(import.meta.dirname, 'command-host.ts'), {
    env: environment,
    stdio: ['ignore', openSync(log, 'a'), 'inherit', 'ipc'],
  })
  const child = host
  child.ref()
  child.channel?.ref()
  const late = setTimeout(() => child.kill('SIGKILL'), mostMs)
  const done = await new Promise<Done | undefined>((resolve) => {
    child.once('message', resolve).once('close', () => resolve(undefined))
    child.send(job)
  })
  clearTimeout(late)
  child.removeAllListeners('message').removeAllListeners('close')
  child.unref()
  child.channel?.unref()
  const logged = readFileSync(log, 'utf8')
  truncateSync(log)
  if (!done || done.leftOpen.length > 0) {
    child.kill('SIGKILL')
    host = undefined
  }
  if (!done) throw new Error(`bellwire ${job.args.join(' ')}: the process that runs the commands ended`)
  const { leftOpen, exited, code, out, err } = done
  if (leftOpen.length > 0 && !exited) throw new Error(`bellwire ${job.args.join(' ')} would not end: ${leftOpen}`)
  return { code, out: out + logged, err }
}
