import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { importOptions } from '../../test/support/quick-imports/import-options.ts'
import { type Part, pinned } from './cores.ts'

export interface Child {
  readonly pid: number
  call<T>(name: string, value?: unknown): Promise<T>
  stop(): Promise<void>
}

export interface ChildOptions {
  readonly part: Part
  readonly args?: readonly string[]
  readonly nodeArgs?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** Longer than any call takes. */
const patienceMs = 180_000

/** Starts a program of bench/servers/ (see handle-calls.ts) in a pinned process, and waits until it is ready. */
export async function startChild(program: string, options: ChildOptions): Promise<Child> {
  const file = join(import.meta.dirname, '../servers', program)
  const [command = '', ...args] = pinned(options.part, [
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    ...importOptions,
    ...(options.nodeArgs ?? []),
    file,
    ...(options.args ?? []),
  ])
  const child = spawn(command, args, {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, ...options.env },
  })
  const waiting = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>()
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  let gone: Error | undefined
  void exited.then(() => {
    gone = new Error(`${file} ended with ${child.signalCode ?? child.exitCode}; its output is above`)
    for (const { reject } of waiting.values()) reject(gone)
  })
  await new Promise<void>((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`${file} was not ready within ${patienceMs / 1000} s`)), patienceMs)
    child.once('error', reject)
    void exited.then(() => reject(gone))
    child.on('message', (message: { ready?: true; id?: number; value?: unknown; error?: string }) => {
      if (message.ready) {
        clearTimeout(late)
        return resolve()
      }
      const caller = waiting.get(message.id as number)
      waiting.delete(message.id as number)
      if (message.error !== undefined) caller?.reject(new Error(message.error))
      else caller?.resolve(message.value as never)
    })
  })
  let ids = 0
  return {
    pid: child.pid as number,
    call: (name, value) =>
      new Promise((resolve, reject) => {
        if (gone) return reject(gone)
        const late = setTimeout(
          () => reject(new Error(`${file} did not answer '${name}' within ${patienceMs / 1000} s`)),
          patienceMs,
        )
        waiting.set(++ids, {
          resolve: (answer: never) => {
            clearTimeout(late)
            resolve(answer)
          },
          reject: (error) => {
            clearTimeout(late)
            reject(error)
          },
        })
        child.send({ id: ids, name, value })
      }),
    async stop() {
      if (child.connected) child.disconnect()
      // The child exits on 'disconnect'. A busy child is killed.
      const late = setTimeout(() => child.kill('SIGKILL'), 5_000)
      await exited
      clearTimeout(late)
    },
  }
}
