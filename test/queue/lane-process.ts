// A real process that serves a lane and is killed or stopped by tests. Each call is written to the witness's file before it
// is answered, so that a double is seen: our own tables could not show one.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import type { TestContext } from 'node:test'
import { createQueue, queueMigrations } from '../../src/queue/create-queue.ts'
import { type EventName, on } from '../../src/runtime/events.ts'
import { openDatabase } from '../../src/store/open-database.ts'

/** Where in a call the process waits for ever, after it has told so. */
export type Halt = 'never' | 'before the answer' | 'before the settle'

export interface LaneProcess {
  readonly pid: number
  /** Resolves when the process has told this event. */
  told(event: EventName | 'halted'): Promise<void>
  signal(name: 'SIGSTOP' | 'SIGCONT'): void
  kill(): Promise<void>
}

export async function forkLane(
  t: TestContext,
  options: { readonly url: string; readonly witness: string; readonly halt?: Halt; readonly leaseMs?: number },
): Promise<LaneProcess> {
  const child = fork(import.meta.filename, [JSON.stringify(options)], { stdio: 'inherit' })
  const exited = once(child, 'exit')
  const told = new Map<string, PromiseWithResolvers<void>>()
  const telling = (what: string): PromiseWithResolvers<void> => {
    const known = told.get(what) ?? Promise.withResolvers()
    told.set(what, known)
    return known
  }
  child.on('message', (what: string) => telling(what).resolve())
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await exited
  }
  t.after(kill)
  return {
    pid: child.pid as number,
    told: (what) => telling(what).promise,
    signal: (name) => void child.kill(name),
    kill,
  }
}

if (import.meta.main) {
  const { url, witness, halt = 'never', leaseMs } = JSON.parse(process.argv[2] as string)
  const tell = (what: string): void => void process.send?.(what)
  const forEver = (): Promise<never> => {
    tell('halted')
    return new Promise(() => {})
  }
  for (const name of ['lane.owned', 'lane.lost'] as const) on(name, () => tell(name))
  const database = await openDatabase(url, { migrations: queueMigrations, ...(leaseMs && { leaseMs }) })
  // Between the provider's acceptance and the settle.
  const served: typeof database =
    halt === 'before the settle'
      ? { ...database, engine: database.engine, commit: (() => forEver()) as never }
      : database
  const lane = createQueue(served).serve(
    {
      name: '1/push',
      order: 'none',
      max: 50,
      bytes: 1_000_000,
      spanMs: 0,
      concurrency: 2,
      timeoutMs: 60_000,
      keepFailed: true,
      retry: { firstMs: 10, mostMs: 100 },
    },
    async (items) => {
      appendFileSync(witness, items.map(({ seq }) => `${seq} ${process.pid}\n`).join(''))
      if (halt === 'before the answer') return forEver()
      return items.map(({ seq }) => ({ category: 'successful', ref: `${process.pid} ${seq}`, rule: 'written' }))
    },
  )
  lane.start()
  process.on('disconnect', () => process.exit())
}
