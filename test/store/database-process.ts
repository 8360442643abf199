// A separate process with its own database connection, which tests can kill and suspend. Run as a program, it answers calls
// over IPC.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { TestContext } from 'node:test'
import type { Ownership } from '../../src/base/store/database.ts'
import { type OpenOptions, openDatabase } from '../../src/base/store/open-database.ts'
import { op } from '../../src/base/store/statement.ts'
import { addUsers, migrations } from './users.ts'

export interface DatabaseProcess {
  /** Calls one of the functions below. */
  call(name: keyof ReturnType<typeof functions>, ...args: unknown[]): Promise<unknown>
  /** Resolves when the process has reported the event. */
  reported(event: string): Promise<void>
  /** The ids of the first `count` acknowledged rows. */
  acknowledged(count: number): Promise<readonly string[]>
  stop(): void
  resume(): void
  kill(): Promise<void>
}

/** Opens a database in another process, which is killed when the test ends. */
export async function forkDatabase(
  t: TestContext,
  url: string,
  options: Partial<OpenOptions> = {},
): Promise<DatabaseProcess> {
  const child = fork(import.meta.filename, [url, JSON.stringify(options)], { stdio: 'inherit' })
  const exited = once(child, 'exit')
  t.after(() => kill())
  const answers = new Map<number, PromiseWithResolvers<unknown>>()
  const reports = new Map<string, PromiseWithResolvers<void>>()
  const ids: string[] = []
  let acknowledgement: { count: number; resolve: (ids: readonly string[]) => void } | undefined
  let lastId = 0

  const reportOf = (event: string): PromiseWithResolvers<void> => {
    const report = reports.get(event) ?? Promise.withResolvers()
    reports.set(event, report)
    return report
  }

  child.on('message', (message: { id?: number; value?: unknown; error?: string; event?: string; row?: string }) => {
    if (message.row !== undefined) {
      if (ids.push(message.row) === acknowledgement?.count) acknowledgement.resolve(ids)
    } else if (message.event !== undefined) reportOf(message.event).resolve()
    else if (message.error === undefined) answers.get(message.id as number)?.resolve(message.value)
    else answers.get(message.id as number)?.reject(new Error(message.error))
  })

  async function kill(): Promise<void> {
    child.kill('SIGKILL')
    await exited
  }

  await Promise.race([
    reportOf('open').promise,
    exited.then(() => {
      throw new Error('the process ended before the database was open')
    }),
  ])
  return {
    call(name, ...args) {
      const answer = Promise.withResolvers<unknown>()
      answers.set(++lastId, answer)
      child.send({ id: lastId, name, args })
      return answer.promise
    },
    reported: (event) => reportOf(event).promise,
    acknowledged: (count) => new Promise((resolve) => (acknowledgement = { count, resolve })),
    stop: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    kill,
  }
}

function functions(url: string, options: Partial<OpenOptions>) {
  const opening = openDatabase(url, { migrations, ...options })
  const owned = new Map<string, Ownership>()
  const report = (event: string): void => void process.send?.({ event })
  return {
    opened: async () => void (await opening),
    owner: async () => (await opening).owner,
    async own(name: string) {
      const ownership = await (await opening).own(name)
      if (!ownership) return false
      owned.set(name, ownership)
      ownership.lost.addEventListener('abort', () => report(`lost ${name}`))
      return true
    },
    async release(name: string) {
      await owned.get(name)?.release()
    },
    async listen(topic: string) {
      ;(await opening).onWake(topic, () => report(`woken ${topic}`))
    },
    async wake(topic: string) {
      const database = await opening
      await database.commit([database.wake(topic)])
    },
    async add(brand: string, id: string) {
      await (await opening).commit([op(addUsers, [[brand, id, 0, 0, null]])])
    },
    /** Starts sixteen writers that never end and report each acknowledged row. */
    async write(durable: boolean) {
      const database = await opening
      const writer = async (w: number): Promise<void> => {
        for (let i = 0; ; i++) {
          const id = `${w}/${i}`
          await database.commit([op(addUsers, [['1', id, 0, 0, 'x'.repeat(500)]])], { durable })
          process.send?.({ row: id })
        }
      }
      for (let w = 0; w < 16; w++) void writer(w)
    },
  }
}

if (import.meta.main) {
  const [url, options] = process.argv.slice(2)
  const api = functions(url as string, JSON.parse(options as string))
  process.on('message', async ({ id, name, args }: { id: number; name: keyof typeof api; args: never[] }) => {
    try {
      const value = await (api[name] as (...args: never[]) => Promise<unknown>)(...args)
      process.send?.({ id, value })
    } catch (error) {
      process.send?.({ id, error: (error as Error).message })
    }
  })
  process.on('disconnect', () => process.exit())
  await api.opened()
  process.send?.({ event: 'open' })
}
