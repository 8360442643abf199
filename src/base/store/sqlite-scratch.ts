import { extname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { MessageChannel, Worker } from 'node:worker_threads'
import type { Scratch, Texts } from './scratch.ts'
import type { Chunk, WorkerRequest, WorkerResponse, WorkerSetup } from './sqlite-scratch-worker.ts'
import { StoreUnavailable } from './store-unavailable.ts'

/** Lines go to the thread in reused shared memory: transferred buffers would wait for two garbage collectors. */
const slots = 4
const slotBytes = 256 * 1024
const newline = 10

/**
 * Starts a worker thread with a temporary database, to which the file at `path` is attached read-only. Comparing millions of
 * rows is one long call into SQLite, which would block the event loop of the main thread.
 */
export async function openSqliteScratch(path: string): Promise<Scratch> {
  const { port1: chunks, port2 } = new MessageChannel()
  const chunksSent = new Int32Array(new SharedArrayBuffer(4))
  const memory = new Uint8Array(new SharedArrayBuffer(slots * slotBytes))
  const attach = `${pathToFileURL(path).href}?mode=ro`
  const setup: WorkerSetup = { attach, chunks: port2, chunksSent, memory, slotBytes }
  // With the extension of this file (.ts or .js): the build does not rewrite './x.ts' in `new URL`.
  const program = new URL(`./sqlite-scratch-worker${extname(import.meta.url)}`, import.meta.url)
  const worker = new Worker(program, {
    workerData: setup,
    transferList: [port2],
    execArgv: ['--disable-warning=ExperimentalWarning'],
    resourceLimits: { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 128 },
  })
  chunks.unref()
  const pending = new Map<number, PromiseWithResolvers<readonly object[]>>()
  let lastId = 0
  let unread = 0
  let slotsFilled = 0
  let changed = Promise.withResolvers<void>()
  let ended: Error | undefined

  function markEnded(error: Error): void {
    ended ??= error
    for (const { reject } of pending.values()) reject(ended)
    pending.clear()
    changed.resolve()
  }
  worker.on('error', (error) => markEnded(error as Error))
  worker.on('exit', () =>
    markEnded(new StoreUnavailable('SQLite: the worker thread of the scratch database has ended')),
  )
  worker.on('message', (answer: WorkerResponse) => {
    if ('chunkRead' in answer) unread--
    else {
      const { resolve, reject } = pending.get(answer.id) as PromiseWithResolvers<readonly object[]>
      pending.delete(answer.id)
      if ('error' in answer) reject(new Error(`SQLite: ${answer.error}`))
      else resolve(answer.rows)
    }
    changed.resolve()
  })

  function request(message: Omit<WorkerRequest, 'id'>): Promise<readonly object[]> {
    if (ended) return Promise.reject(ended)
    const answered = Promise.withResolvers<readonly object[]>()
    pending.set(++lastId, answered)
    worker.postMessage({ ...message, id: lastId })
    return answered.promise
  }

  function send(chunk: Chunk): void {
    unread++
    chunks.postMessage(chunk)
    Atomics.add(chunksSent, 0, 1)
    Atomics.notify(chunksSent, 0)
  }

  async function sendLines(lines: Uint8Array, waitForSlot: () => Promise<void>): Promise<void> {
    for (let from = 0; from < lines.length; ) {
      await waitForSlot()
      const end = Math.min(lines.length, from + slotBytes)
      const to = end === lines.length ? end : lines.lastIndexOf(newline, end - 1) + 1
      if (to > from) {
        const slot = slotsFilled++ % slots
        memory.set(lines.subarray(from, to), slot * slotBytes)
        send({ slot, bytes: to - from })
        from = to
      } else {
        // A line longer than a slot.
        const nextLine = lines.indexOf(newline, from) + 1
        send({ texts: [Buffer.from(lines.subarray(from, nextLine - 1)).toString()] })
        from = nextLine
      }
    }
  }

  async function load(table: string, texts: AsyncIterable<Texts>): Promise<void> {
    const loaded = request({ load: table })
    let failed = false
    loaded.catch(() => {
      failed = true
      changed.resolve()
    })
    const waitForSlot = async (): Promise<void> => {
      while (unread >= slots && !failed) {
        changed = Promise.withResolvers()
        await changed.promise
      }
      if (failed) await loaded
    }
    try {
      for await (const chunk of texts) {
        if ('lines' in chunk) await sendLines(chunk.lines, waitForSlot)
        else {
          await waitForSlot()
          send(chunk)
        }
      }
    } catch (error) {
      if (!failed) send('abort')
      await loaded.catch(() => {})
      throw error
    }
    send('end')
    await loaded
  }

  return {
    engine: 'sqlite',
    load,
    repeated: async (table) =>
      ((await request({ text: `select text from ${table} where times > 1 limit 3` })) as { text: string }[]).map(
        ({ text }) => text,
      ),
    run: async <Row extends object>(text: string, values = [] as never[]) =>
      (await request({ text, values })) as readonly Row[],
    async close() {
      chunks.close()
      await worker.terminate()
    },
  }
}
