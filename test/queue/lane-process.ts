// A process that serves a lane and that tests kill or stop. It appends each call to the witness file before it answers, because
// the tables of the queue do not show items that were sent twice.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import type { TestContext } from 'node:test'
import { createQueue, queueMigrations } from '../../src/base/queue/create-queue.ts'
import { type EventName, on } from '../../src/base/runtime/events.ts'
import { openDatabase } from '../../src/base/store/open-database.ts'

export interface LaneProcess {
  readonly pid: number
  /** Resolves when the process has reported this event. */
  waitFor(event: EventName | 'halted'): Promise<void>
  signal(name: 'SIGSTOP' | 'SIGCONT'): void
  kill(): Promise<void>
}

export interface LaneProcessOptions {
  readonly url: string
  readonly witness: string
  /** The process reports 'halted' in its first call, and never answers. */
  readonly halts?: boolean
  readonly leaseMs?: number
  readonly perSecond?: number
}

export async function forkLane(t: TestContext, options: LaneProcessOptions): Promise<LaneProcess> {
  const child = fork(import.meta.filename, [JSON.stringify(options)], { stdio: 'inherit' })
  const exited = once(child, 'exit')
  const reports = new Map<string, PromiseWithResolvers<void>>()
  const reportOf = (name: string): PromiseWithResolvers<void> => {
    const report = reports.get(name) ?? Promise.withResolvers()
    reports.set(name, report)
    return report
  }
  child.on('message', (name: string) => reportOf(name).resolve())
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await exited
  }
  t.after(kill)
  return {
    pid: child.pid as number,
    waitFor: (name) => reportOf(name).promise,
    signal: (name) => void child.kill(name),
    kill,
  }
}

if (import.meta.main) {
  const { url, witness, halts, leaseMs, perSecond } = JSON.parse(process.argv[2] as string) as LaneProcessOptions
  const report = (name: string): void => void process.send?.(name)
  for (const name of ['lane.owned', 'lane.lost'] as const) on(name, () => report(name))
  const database = await openDatabase(url, { migrations: queueMigrations, ...(leaseMs && { leaseMs }) })
  const lane = {
    name: '1/push',
    order: 'none',
    max: 50,
    bytes: 1_000_000,
    spanMs: 0,
    concurrency: 2,
    timeoutMs: 60_000,
    ...(perSecond && { perSecond }),
    keepFailed: true,
    retry: { firstMs: 10, mostMs: 100 },
  } as const
  const service = createQueue(database).serveLane(lane, async (items) => {
    appendFileSync(witness, items.map(({ seq }) => `${seq} ${process.pid} ${Date.now()}\n`).join(''))
    if (halts) {
      report('halted')
      return new Promise(() => {})
    }
    return items.map(({ seq }) => ({ category: 'successful', ref: `${process.pid} ${seq}`, rule: 'written' }))
  })
  service.start()
  process.on('disconnect', () => process.exit())
}
