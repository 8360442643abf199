// A process that replays all failed items, and that a test kills in the middle.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { TestContext } from 'node:test'
import { createQueue, queueMigrations } from '../../src/base/queue/create-queue.ts'
import { openDatabase } from '../../src/base/store/open-database.ts'

/** Forks the process, and kills it when it has committed this many pages and begun the commit of the next. */
export async function killReplay(t: TestContext, url: string, pages: number): Promise<void> {
  const child = fork(import.meta.filename, [url, String(pages)], { stdio: 'inherit' })
  const exited = once(child, 'exit')
  t.after(() => child.kill('SIGKILL'))
  await Promise.race([once(child, 'message'), exited])
  child.kill('SIGKILL')
  await exited
}

if (import.meta.main) {
  const [, , url, pages] = process.argv as [string, string, string, string]
  const database = await openDatabase(url, { migrations: queueMigrations })
  const { commit } = database
  let begun = 0
  const halting: typeof database = {
    ...database,
    engine: database.engine,
    commit: (async (...args: Parameters<typeof commit>) => {
      const rows = commit(...args)
      begun++
      if (begun <= Number(pages)) return rows
      process.send?.('begun')
      return new Promise(() => {})
    }) as typeof commit,
  }
  await createQueue(halting).decideFailed({}, 'replay')
  process.on('disconnect', () => process.exit())
}
