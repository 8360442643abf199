// Test helpers: `bellwire demo` in its own process, observed through its output.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { bellwire } from '../cli/bellwire.ts'

export interface Demo {
  /** The output so far. */
  readonly output: string
  /** Resolves with the match as soon as the output has one. */
  printed(pattern: RegExp): Promise<RegExpExecArray>
  interrupt(): void
  /** The exit code, once the process has ended. */
  readonly exit: Promise<number | null>
  /** The files that it left in its temporary folder. */
  leftovers(): Promise<string[]>
}

export async function startDemo(t: TestContext, args: readonly string[], withinMs = 60_000): Promise<Demo> {
  const folder = await mkdtemp(join(tmpdir(), 'bellwire-e2e-'))
  const [program, ...options] = bellwire
  const child = spawn(program, [...options, 'demo', ...args], {
    env: { ...process.env, TMPDIR: folder, NODE_OPTIONS: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.after(() => end(child).then(() => rm(folder, { recursive: true, force: true })))
  let output = ''
  const checks = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
      for (const check of checks) check()
    })
  }
  const exit = once(child, 'close').then(([code]) => code as number | null)
  return {
    get output() {
      return output
    },
    async printed(pattern) {
      const { promise, resolve, reject } = Promise.withResolvers<RegExpExecArray>()
      const check = (): void => {
        const match = pattern.exec(output)
        if (match) resolve(match)
      }
      const fail = (): void => reject(new Error(`the demo did not print ${pattern}; it printed:\n${output}`))
      const timeout = setTimeout(fail, withinMs)
      void exit.then(fail)
      checks.add(check)
      check()
      return promise.finally(() => {
        clearTimeout(timeout)
        checks.delete(check)
      })
    },
    interrupt: () => void child.kill('SIGINT'),
    exit,
    leftovers: () => readdir(folder),
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'close')
}
