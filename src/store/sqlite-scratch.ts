import { extname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { MessageChannel, Worker } from 'node:worker_threads'
import type { Scratch, Texts } from './scratch.ts'
import type { Answer, Piece, Question, Setup } from './sqlite-scratch-worker.ts'
import { StoreUnavailable } from './store-unavailable.ts'

/** Lines reach the thread in memory that is used again and again: buffers handed over would wait for two collectors. */
const slots = 4
const slotBytes = 256 * 1024
const newline = 10

/**
 * A thread with a temporary database, to which the file at `path` is attached for reading: comparing millions of rows is one
 * long call into SQLite, and a thread is the only place where that stops nobody.
 */
export async function openSqliteScratch(path: string): Promise<Scratch> {
  const { port1: pieces, port2 } = new MessageChannel()
  const bell = new Int32Array(new SharedArrayBuffer(4))
  const memory = new Uint8Array(new SharedArrayBuffer(slots * slotBytes))
  const setup: Setup = { attach: `${pathToFileURL(path).href}?mode=ro`, pieces: port2, bell, memory, slotBytes }
  // With the name's end as this file has it: a plain './x.ts' in `new URL` is not rewritten when this is built.
  const program = new URL(`./sqlite-scratch-worker${extname(import.meta.url)}`, import.meta.url)
  const worker = new Worker(program, {
    workerData: setup,
    transferList: [port2],
    execArgv: ['--disable-warning=ExperimentalWarning'],
    resourceLimits: { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 128 },
  })
  pieces.unref()
  const asked = new Map<number, PromiseWithResolvers<readonly object[]>>()
  let ids = 0
  let waiting = 0
  let sent = 0
  let taken = Promise.withResolvers<void>()
  let gone: Error | undefined

  function lost(error: Error): void {
    gone ??= error
    for (const { reject } of asked.values()) reject(gone)
    asked.clear()
    taken.resolve()
  }
  worker.on('error', (error) => lost(error as Error))
  worker.on('exit', () => lost(new StoreUnavailable('SQLite: the thread of the scratch database has ended')))
  worker.on('message', (answer: Answer) => {
    if ('taken' in answer) waiting--
    else {
      const { resolve, reject } = asked.get(answer.id) as PromiseWithResolvers<readonly object[]>
      asked.delete(answer.id)
      if ('error' in answer) reject(new Error(`SQLite: ${answer.error}`))
      else resolve(answer.rows)
    }
    taken.resolve()
  })

  function ask(question: Omit<Question, 'id'>): Promise<readonly object[]> {
    if (gone) return Promise.reject(gone)
    const answered = Promise.withResolvers<readonly object[]>()
    asked.set(++ids, answered)
    worker.postMessage({ ...question, id: ids })
    return answered.promise
  }

  function send(piece: Piece): void {
    waiting++
    pieces.postMessage(piece)
    Atomics.add(bell, 0, 1)
    Atomics.notify(bell, 0)
  }

  async function sendLines(lines: Uint8Array, room: () => Promise<void>): Promise<void> {
    for (let from = 0; from < lines.length; ) {
      await room()
      const end = Math.min(lines.length, from + slotBytes)
      const to = end === lines.length ? end : lines.lastIndexOf(newline, end - 1) + 1
      if (to > from) {
        const slot = sent++ % slots
        memory.set(lines.subarray(from, to), slot * slotBytes)
        send({ slot, bytes: to - from })
        from = to
      } else {
        // A line that fits into no slot.
        const next = lines.indexOf(newline, from) + 1
        send({ texts: [Buffer.from(lines.subarray(from, next - 1)).toString()] })
        from = next
      }
    }
  }

  async function load(table: string, texts: AsyncIterable<Texts>): Promise<void> {
    const loaded = ask({ load: table })
    let failed = false
    loaded.catch(() => {
      failed = true
      taken.resolve()
    })
    const room = async (): Promise<void> => {
      while (waiting >= slots && !failed) {
        taken = Promise.withResolvers()
        await taken.promise
      }
      if (failed) await loaded
    }
    try {
      for await (const piece of texts) {
        if ('lines' in piece) await sendLines(piece.lines, room)
        else {
          await room()
          send(piece)
        }
      }
    } catch (error) {
      if (!failed) send('break off')
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
      ((await ask({ text: `select text from ${table} where times > 1 limit 3` })) as { text: string }[]).map(
        ({ text }) => text,
      ),
    run: async <Row extends object>(text: string, values = [] as never[]) =>
      (await ask({ text, values })) as readonly Row[],
    async close() {
      pieces.close()
      await worker.terminate()
    },
  }
}
