// Runs the command as a separate process, like a user.

import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

export const bin = join(import.meta.dirname, '../../bin/bellwire.cjs')

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
}

/** Starts `bellwire …` of this checkout. */
export function start(t: TestContext, args: readonly string[], env?: NodeJS.ProcessEnv, input?: string): Started {
  return startProgram(t, [process.execPath, '--conditions=bellwire-source', bin, ...args], env, input)
}

/** Starts a program. It is killed when the test ends, or after a minute. */
export function startProgram(
  t: TestContext,
  [program, ...args]: readonly [string, ...string[]],
  env: NodeJS.ProcessEnv = {},
  input?: string,
): Started {
  const child = spawn(program, args, {
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, NO_COLOR: '1', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: 60_000,
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

/** The addresses of a side with `admin`, from its log. */
export async function addressesOf(started: Started): Promise<{ url: string; admin: string }> {
  const [url = '', admin = ''] = await Promise.all(
    [/"server\.listening","side":"\w+","url"/, /"server\.listening","side":"\w+","part":"admin"/].map(
      async (line) => (JSON.parse(await started.line(line)) as { url: string }).url,
    ),
  )
  return { url, admin }
}

/** Runs many command lines in one process, which is quicker: for commands that only print a text. */
export async function runEach(t: TestContext, lines: readonly (readonly string[])[]): Promise<readonly Run[]> {
  const program = join(import.meta.dirname, 'run-each.ts')
  const { out } = await startProgram(t, [process.execPath, program, JSON.stringify(lines)]).ended
  return JSON.parse(out) as Run[]
}

export function run(t: TestContext, args: readonly string[], env?: NodeJS.ProcessEnv, input?: string): Promise<Run> {
  return start(t, args, env, input).ended
}
