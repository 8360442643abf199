import { availableParallelism } from 'node:os'
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { gather } from '../../runtime/gather.ts'
import type { Asked, Encrypted } from './encrypt-thread.ts'

export interface Encryptor {
  /** The body of a request with this payload, for who has these keys, or why they are none. Rejects if its thread has ended. */
  encrypt(payload: Uint8Array, keys: Asked['keys']): Promise<Encrypted>
  close(): Promise<void>
}

interface Thread {
  readonly worker: Worker
  ask(asked: Asked): void
  readonly asked: Map<number, PromiseWithResolvers<Encrypted>>
}

// With the name's end as this file has it: a plain './x.ts' in `new URL` is not rewritten when this is built.
const thread = new URL(`./encrypt-thread${extname(import.meta.url)}`, import.meta.url)
/** Another thread is worth starting when each has so many before it. */
const worthAnother = 8

/**
 * Encrypts in threads. It takes some 0.3 ms of computing a message, in which nothing else in the process has its turn; a thousand
 * messages at once would stop it. The first thread is started with the first message, others when that is not enough.
 *
 * @param most threads; one less than the machine has cores, four at most
 * @example const { body } = await createEncryptor().encrypt(Buffer.from('{"title":"Hello"}'), subscription.keys)
 */
export function createEncryptor(
  most: number = Math.min(4, Math.max(1, availableParallelism() - 1)),
  program: URL = thread,
): Encryptor {
  const threads = new Set<Thread>()
  let ids = 0
  let closed = false

  function start(): Thread {
    const worker = new Worker(program, { resourceLimits: { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 64 } })
    // What is asked in one turn is handed over together: each handing over wakes the thread.
    const started: Thread = { asked: new Map(), worker, ask: gather((asked) => worker.postMessage(asked)) }
    const lost = (error: Error): void => {
      threads.delete(started)
      for (const { reject } of started.asked.values()) reject(error)
      started.asked.clear()
    }
    worker.on('error', (error) => lost(error as Error))
    worker.on('exit', () => lost(new Error('the thread that encrypts has ended')))
    worker.on('message', (those: readonly Encrypted[]) => {
      for (const encrypted of those) {
        started.asked.get(encrypted.id)?.resolve(encrypted)
        started.asked.delete(encrypted.id)
      }
    })
    // Whoever waits has a deadline, and with it a timer.
    worker.unref()
    threads.add(started)
    return started
  }

  function leastBusy(): Thread {
    let least: Thread | undefined
    for (const thread of threads) if (!least || thread.asked.size < least.asked.size) least = thread
    return !least || (least.asked.size >= worthAnother && threads.size < most) ? start() : least
  }

  return {
    encrypt(payload, keys) {
      if (closed) return Promise.reject(new Error('it is closed'))
      const { ask, asked } = leastBusy()
      const answered = Promise.withResolvers<Encrypted>()
      const id = ++ids
      asked.set(id, answered)
      ask({ id, payload, keys })
      return answered.promise
    },
    async close() {
      closed = true
      await Promise.all([...threads].map(({ worker }) => worker.terminate()))
    },
  }
}
