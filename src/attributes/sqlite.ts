// The operator's own SQLite file, opened read-only in a separate process (sqlite-reader.ts).

import { type ChildProcess, fork } from 'node:child_process'
import { on } from 'node:events'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { clock } from '../runtime/clock.ts'
import { random } from '../runtime/random.ts'
import type { IdChunk, LookUp, Snapshot } from './attribute-source.ts'
import type { Engine, EngineOptions, Found } from './sql-engine.ts'
import { bindBrand } from './sql-text.ts'
import type { ListRequest, LookUpRequest, ReaderMessage } from './sqlite-messages.ts'

/** Next to this file: TypeScript in the source tree, JavaScript in the build. */
const program = fileURLToPath(import.meta.url).replace(/sqlite(\.[jt]s)$/, 'sqlite-reader$1')

export function openSqlite(path: string, { asOf, maxLagMs }: EngineOptions): Engine {
  const pending = new Map<number, { resolve(found: readonly Found[]): void; reject(error: Error): void }>()
  let reader: ChildProcess | undefined
  let lastNumber = 0

  /** One reader serves all look-ups. It is started by the first look-up, and restarted after it was killed. */
  function runningReader(): ChildProcess {
    if (reader) return reader
    const started = startReader(path)
    started.on('message', (message: ReaderMessage) => {
      if (!('lookUp' in message)) return
      const request = pending.get(message.lookUp)
      pending.delete(message.lookUp)
      if ('error' in message) request?.reject(new Error(message.error))
      else request?.resolve(message.found)
    })
    started.on('exit', () => {
      if (reader === started) killReader(new Error('the process that reads the SQLite file exited'))
    })
    reader = started
    return started
  }

  function killReader(error: Error): void {
    reader?.kill('SIGKILL')
    reader = undefined
    for (const { reject } of pending.values()) reject(error)
    pending.clear()
  }

  async function requestLookUp(
    users: readonly string[],
    parts: LookUpRequest['parts'],
    lookUp: LookUp,
  ): Promise<readonly Found[]> {
    lookUp.signal.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<readonly Found[]>()
    const number = ++lastNumber
    // A slow query cannot be interrupted, and it delays all later queries: kill the reader.
    const timer = clock.setTimeout(
      () => killReader(new Error('no answer in time')),
      Math.max(0, lookUp.deadline - clock.now()),
    )
    pending.set(number, { resolve, reject })
    sendRequest(runningReader(), { lookUp: number, users, parts, asOf, maxLagMs })
    try {
      return await promise
    } finally {
      clock.clearTimeout(timer)
    }
  }

  return {
    async findUsers(brand, users, queries, lookUp) {
      return requestLookUp(
        users,
        queries.map(({ field, text }) => ({ field, query: bindBrand(text, brand) })),
        lookUp,
      )
    },
    async list(brand, { field, text }, signal) {
      return list(path, { list: { field, query: bindBrand(text, brand) }, asOf }, signal)
    },
    async close() {
      killReader(new Error('the source is closed'))
    },
  }
}

/** @param list the output file, for a reader that writes one list */
function startReader(path: string, list?: FileHandle): ChildProcess {
  const reader = fork(program, [path], {
    stdio: ['ignore', list?.fd ?? 'ignore', 'inherit', 'ipc'],
    execArgv: ['--disable-warning=ExperimentalWarning'],
  })
  // An idle reader must not keep this process alive. A pending look-up has its own timer.
  reader.unref()
  reader.channel?.unref()
  reader.on('error', () => {})
  return reader
}

function sendRequest(reader: ChildProcess, request: LookUpRequest | ListRequest): void {
  // Errors are ignored: a reader that has died is noticed by its 'exit' event.
  reader.send(request, () => {})
}

async function list(path: string, request: ListRequest, signal: AbortSignal): Promise<Snapshot> {
  signal.throwIfAborted()
  const file = await openUnnamedFile()
  const reader = startReader(path, file)
  reader.ref()
  const end = (): Promise<void> => {
    signal.removeEventListener('abort', end)
    reader.kill('SIGKILL')
    return file.close()
  }
  signal.addEventListener('abort', end)
  const messages = listMessages(reader, signal)
  sendRequest(reader, request)
  try {
    const { value: first } = await messages.next()
    if (!first || !('timestamp' in first)) throw new Error('the process that reads the SQLite file sent no timestamp')
    return { timestamp: first.timestamp, chunks: chunks() }
  } catch (error) {
    await end()
    throw error
  }

  async function* chunks(): AsyncGenerator<IdChunk> {
    let [bytes, ids] = [0, 0]
    let memory = Buffer.alloc(0)
    try {
      for await (const message of messages) {
        if (!('bytes' in message)) continue
        const length = message.bytes - bytes
        if (memory.length < length) memory = Buffer.allocUnsafeSlow(length)
        for (let got = 0; got < length; ) {
          const { bytesRead } = await file.read(memory, got, length - got, bytes + got)
          if (bytesRead === 0) throw new Error('the temporary file of the list was truncated')
          got += bytesRead
        }
        yield { json: memory.subarray(0, length), count: message.ids - ids }
        ;({ bytes, ids } = message)
      }
    } finally {
      await end()
    }
  }
}

/** Yields the reader's messages until the list is complete. @throws if the reader fails, or exits earlier */
async function* listMessages(reader: ChildProcess, signal: AbortSignal): AsyncGenerator<ReaderMessage> {
  for await (const [message] of on(reader, 'message', { close: ['exit'], signal }) as AsyncIterable<[ReaderMessage]>) {
    if ('complete' in message) return
    if ('error' in message) throw new Error(message.error)
    yield message
  }
  throw new Error('the process that reads the SQLite file exited before the list was complete')
}

/** An unlinked temporary file: the system deletes it when the last process closes it. */
async function openUnnamedFile(): Promise<FileHandle> {
  const path = join(tmpdir(), `bellwire-list-${random.uuid()}`)
  const file = await open(path, 'wx+', 0o600)
  await unlink(path)
  return file
}
