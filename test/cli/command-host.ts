// A process that runs command lines one after another, as bin/bellwire.cjs does. After each, it checks that the command would have ended.

import { AsyncLocalStorage } from 'node:async_hooks'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { main } from '../../src/tools/cli/main.ts'
import type { Run } from './bellwire.ts'

export interface Job {
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
  readonly input: string
}

export interface Done extends Run {
  /** The command called process.exit(). */
  readonly exited: boolean
  /** What would keep the process from ending. */
  readonly leftOpen: readonly string[]
}

/** An open handle after the end of a command would keep its process from ending, unless the command exits. */
const endsWithinMs = 5_000
const exitsWithinMs = 100

interface Running {
  out: string
  err: string
  readonly exit: (code: number) => void
}
/** A timer or a request of an earlier command belongs to that command. */
const current = new AsyncLocalStorage<Running>()

for (const [name, part] of [
  ['stdout', 'out'],
  ['stderr', 'err'],
] as const)
  process[name].write = (text: string | Uint8Array, ...rest: unknown[]) => {
    const running = current.getStore()
    if (running) running[part] += typeof text === 'string' ? text : Buffer.from(text).toString()
    const done = rest.find((each) => typeof each === 'function')
    if (done) queueMicrotask(done as () => void)
    return true
  }
process.exit = ((code?: number) => {
  current.getStore()?.exit(Number(code ?? process.exitCode ?? 0))
}) as typeof process.exit

const emitters = [process, process.stdout, process.stderr]
type Listener = (...values: unknown[]) => void
const listeners = (): Map<NodeJS.EventEmitter, Map<string | symbol, readonly Listener[]>> =>
  new Map(
    emitters.map((each) => [each, new Map(each.eventNames().map((name) => [name, each.rawListeners(name as string)]))]),
  ) as never

/** Removes the listeners of a command. */
function restoreListeners(before: ReturnType<typeof listeners>): void {
  for (const [emitter, byName] of listeners())
    for (const [name, found] of byName)
      for (const listener of found)
        if (!before.get(emitter)?.get(name)?.includes(listener)) emitter.removeListener(name, listener)
}

async function runJob({ args, env, input }: Job): Promise<Done> {
  process.env = { ...env }
  process.exitCode = undefined
  Object.defineProperty(process, 'stdin', { value: Readable.from([Buffer.from(input)]), configurable: true })
  const [before, open] = [listeners(), process.getActiveResourcesInfo()]
  const exited = Promise.withResolvers<number>()
  const running: Running = { out: '', err: '', exit: exited.resolve }
  const ended = current.run(running, async () => {
    const code = await main(args)
    process.exitCode = code
    await endsWithin(endsWithinMs, open)
    return code
  })
  const result = await Promise.race([
    ended.then((code) => ({ code, exited: false })),
    exited.promise.then(async (code) => {
      await endsWithin(exitsWithinMs, open)
      return { code, exited: true }
    }),
  ])
  restoreListeners(before)
  return { ...result, out: running.out, err: running.err, leftOpen: openSince(open) }
}

/** Resolves when nothing that was opened since keeps the process from ending, or after this time. */
async function endsWithin(ms: number, before: readonly string[]): Promise<void> {
  for (const until = Date.now() + ms; openSince(before).length > 0 && Date.now() < until; )
    await sleep(5, undefined, { ref: false })
}

function openSince(before: readonly string[]): readonly string[] {
  const left = process.getActiveResourcesInfo()
  for (const each of before) if (left.includes(each)) left.splice(left.indexOf(each), 1)
  return left
}

process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
process.on('message', (job: Job) => void runJob(job).then((done) => process.send?.(done)))
