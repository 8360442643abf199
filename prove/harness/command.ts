import { openSync, readFileSync } from 'node:fs'
import { type Process, startProcess } from './process.ts'

/** A separate process of `bellwire …` that writes its log to a file. */
export interface Command extends Pick<Process, 'pid'> {
  /** The log lines so far, in order. */
  lines(): readonly Readonly<Record<string, unknown>>[]
}

/** Starts a command, or another program that logs like one. Resolves with it and the first log line of this event. */
export async function startCommand(
  args: readonly string[],
  log: string,
  event: string,
  signal: AbortSignal,
  program = new URL('../../src/tools/cli/main.ts', import.meta.url),
): Promise<readonly [Command, Readonly<Record<string, unknown>>]> {
  const process = startProcess(program, { args, output: openSync(log, 'w') })
  let ended = false
  void process.ended.then(() => {
    ended = true
  })
  const lines = (): readonly Record<string, unknown>[] => readFileSync(log, 'utf8').split('\n').flatMap(readLine)
  for (;;) {
    const found = lines().find((line) => line.event === event)
    if (found) return [{ pid: process.pid, lines }, found]
    if (ended)
      throw new Error(`${program.pathname} ${args.join(' ')} ended:\n${readFileSync(log, 'utf8').slice(-2_000)}`)
    signal.throwIfAborted()
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

function readLine(text: string): readonly Record<string, unknown>[] {
  try {
    return [JSON.parse(text) as Record<string, unknown>]
  } catch {
    return [] // not a log line, or an incomplete one
  }
}
