// A process that replays all failed items, and that a test kills in the middle.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { TestContext } from 'node:test'
import { createQueue, queueMigrations } from '../../src/base/queue/create-queue.ts'
import { openDatabase } from '../../src/base/store/open-database.ts'

export interface ReplayProcess {
  /** Resolves when the process has committed this many pages. */
  pages(count: number): Promise<void>
  kill(): Promise<void>
}

export async function forkReplay(t: TestContext, url: string): Promise<ReplayProcess> {
  const child = fork(import.meta.filename, [url], { stdio: 'inherit' })
  const exited = once(child, 'exit')
  let committed = 0
  let onPage = (): void => {}
  child.on('message', () => {
    committed++
    onPage()
  })
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await exited
  }
  t.after(kill)
  return {
    pages: (count) =>
      new Promise((resolve) => {
        onPage = () => committed >= count && resolve()
        onPage()
      }),
    kill,
  }
}

if (import.meta.main) {
  const database = await openDatabase(process.argv[2] as string, { migrations: queueMigrations })
  const { commit } = database
  const reporting: typeof database = {
    ...database,
    engine: database.engine,
    commit: (async (...args: Parameters<typeof commit>) => {
      const rows = await commit(...args)
      process.send?.('page')
      // The next page begins after the test could react.
      await new Promise((resolve) => setTimeout(resolve, 5))
      return rows
    }) as typeof commit,
  }
  await createQueue(reporting).decideFailed({}, 'replay')
  process.on('disconnect', () => process.exit())
}
