// The operator's own SQLite file, only read, by a process of its own (sqlite-reader.ts).

import { type ChildProcess, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { on } from 'node:events'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { IdChunk, LookUp, Snapshot } from './attribute-source.ts'
import type { Engine, EngineOptions, Found } from './sql.ts'
import { bindBrand } from './sql-text.ts'
import type { AskedToList, AskedToLook, Told } from './sqlite-questions.ts'

/** Beside this file, as TypeScript here, as JavaScript where it is built. */
const program = fileURLToPath(import.meta.url).replace(/sqlite(\.[jt]s)$/, 'sqlite-reader$1')

export function openSqlite(path: string, { asOf, maxLagMs }: EngineOptions): Engine {
  const waiting = new Map<number, { resolve(found: readonly Found[]): void; reject(error: Error): void }>()
  let reader: ChildProcess | undefined
  let numbers = 0

  /** One for all look-ups, started by the first, and again when it was killed. */
  function lookReader(): ChildProcess {
    if (reader) return reader
    const started = startReader(path)
    started.on('message', (told: Told) => {
      if (!('look' in told)) return
      const asked = waiting.get(told.look)
      waiting.delete(told.look)
      if ('error' in told) asked?.reject(new Error(told.error))
      else asked?.resolve(told.found)
    })
    started.on('exit', () => {
      if (reader === started) loseReader(new Error('the process that reads the file ended'))
    })
    reader = started
    return started
  }

  function loseReader(error: Error): void {
    reader?.kill('SIGKILL')
    reader = undefined
    for (const { reject } of waiting.values()) reject(error)
    waiting.clear()
  }

  async function look(
    users: readonly string[],
    parts: AskedToLook['parts'],
    lookUp: LookUp,
  ): Promise<readonly Found[]> {
    lookUp.signal.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<readonly Found[]>()
    const number = ++numbers
    // A query that is too slow cannot be interrupted, and the next ones wait behind it.
    const late = setTimeout(() => loseReader(new Error('no answer in time')), Math.max(0, lookUp.deadline - Date.now()))
    waiting.set(number, { resolve, reject })
    ask(lookReader(), { look: number, users, parts, asOf, maxLagMs })
    try {
      return await promise
    } finally {
      clearTimeout(late)
    }
  }

  return {
    async look(brand, users, queries, lookUp) {
      return look(
        users,
        queries.map(({ field, text }) => ({ field, query: bindBrand(text, brand) })),
        lookUp,
      )
    },
    async list(brand, { field, text }, signal) {
      return list(path, { list: { field, query: bindBrand(text, brand) }, asOf }, signal)
    },
    async close() {
      loseReader(new Error('the source is closed'))
    },
  }
}

/** @param list the file for a list, of a reader that is started for one */
function startReader(path: string, list?: FileHandle): ChildProcess {
  const reader = fork(program, [path], {
    stdio: ['ignore', list?.fd ?? 'ignore', 'inherit', 'ipc'],
    execArgv: ['--disable-warning=ExperimentalWarning'],
  })
  // Whoever waits for it has a timer; idle, it must not keep a process alive.
  reader.unref()
  reader.channel?.unref()
  reader.on('error', () => {})
  return reader
}

function ask(reader: ChildProcess, asked: AskedToLook | AskedToList): void {
  // A reader that is gone says so by its 'exit'.
  reader.send(asked, () => {})
}

async function list(path: string, asked: AskedToList, signal: AbortSignal): Promise<Snapshot> {
  signal.throwIfAborted()
  const file = await namelessFile()
  const reader = startReader(path, file)
  reader.ref()
  const end = (): Promise<void> => {
    signal.removeEventListener('abort', end)
    reader.kill('SIGKILL')
    return file.close()
  }
  signal.addEventListener('abort', end)
  const heard = tellings(reader, signal)
  ask(reader, asked)
  try {
    const { value: first } = await heard.next()
    if (!first || !('timestamp' in first)) throw new Error('the process that reads the file did not begin')
    return { timestamp: first.timestamp, chunks: chunks() }
  } catch (error) {
    await end()
    throw error
  }

  async function* chunks(): AsyncGenerator<IdChunk> {
    let [bytes, ids] = [0, 0]
    let memory = Buffer.alloc(0)
    try {
      for await (const told of heard) {
        if (!('bytes' in told)) continue
        const length = told.bytes - bytes
        if (memory.length < length) memory = Buffer.allocUnsafeSlow(length)
        for (let got = 0; got < length; ) {
          const { bytesRead } = await file.read(memory, got, length - got, bytes + got)
          if (bytesRead === 0) throw new Error('the file of the list is shorter than it was')
          got += bytesRead
        }
        yield { json: memory.subarray(0, length), count: told.ids - ids }
        ;({ bytes, ids } = told)
      }
    } finally {
      await end()
    }
  }
}

/** What a reader tells of a list, to its end. @throws where it has failed, or ended before that */
async function* tellings(reader: ChildProcess, signal: AbortSignal): AsyncGenerator<Told> {
  for await (const [told] of on(reader, 'message', { close: ['exit'], signal }) as AsyncIterable<[Told]>) {
    if ('whole' in told) return
    if ('error' in told) throw new Error(told.error)
    yield told
  }
  throw new Error('the process that reads the file ended before the list did')
}

/** It is gone with the last process that has it open. */
async function namelessFile(): Promise<FileHandle> {
  const path = join(tmpdir(), `bellwire-list-${randomUUID()}`)
  const file = await open(path, 'wx+', 0o600)
  await unlink(path)
  return file
}
