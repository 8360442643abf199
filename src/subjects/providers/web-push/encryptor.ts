import { availableParallelism } from 'node:os'
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { gather } from '../../../base/runtime/gather.ts'
import type { EncryptionJob, EncryptionResult } from './encrypt-thread.ts'

export interface Encryptor {
  /** Encrypts a payload with a subscription's keys. @returns the body, or an error for invalid keys. Rejects if its thread dies. */
  encrypt(payload: Uint8Array, keys: EncryptionJob['keys']): Promise<EncryptionResult>
  close(): Promise<void>
}

interface Thread {
  readonly worker: Worker
  post(job: EncryptionJob): void
  /** The promises of the jobs in flight, by id. */
  readonly pending: Map<number, PromiseWithResolvers<EncryptionResult>>
}

// The extension is that of this file (.ts or .js), because the build does not rewrite './x.ts' in `new URL`.
const threadProgram = new URL(`./encrypt-thread${extname(import.meta.url)}`, import.meta.url)
/** Another thread is started when every thread has at least this many jobs. */
const jobsForNewThread = 8

/**
 * Encrypts in threads. A message takes about 0.3 ms of processor time; in the main thread, a thousand messages would block the
 * process. The first thread starts with the first message, further threads when the others are busy.
 *
 * @param most maximum number of threads. Default: one less than the machine has cores, but 1 to 4.
 * @example const { body } = await createEncryptor().encrypt(Buffer.from('{"title":"Hello"}'), subscription.keys)
 */
export function createEncryptor(
  most: number = Math.min(4, Math.max(1, availableParallelism() - 1)),
  program: URL = threadProgram,
): Encryptor {
  const threads = new Set<Thread>()
  let ids = 0
  let closed = false

  function start(): Thread {
    const worker = new Worker(program, { resourceLimits: { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 64 } })
    // The jobs of one turn of the event loop are posted in one message, since each message wakes the thread.
    const started: Thread = { pending: new Map(), worker, post: gather((jobs) => worker.postMessage(jobs)) }
    const rejectPending = (error: Error): void => {
      threads.delete(started)
      for (const { reject } of started.pending.values()) reject(error)
      started.pending.clear()
    }
    worker.on('error', (error) => rejectPending(error as Error))
    worker.on('exit', () => rejectPending(new Error('the encryption thread has ended')))
    worker.on('message', (results: readonly EncryptionResult[]) => {
      for (const result of results) {
        started.pending.get(result.id)?.resolve(result)
        started.pending.delete(result.id)
      }
      if (started.pending.size === 0) worker.unref()
    })
    threads.add(started)
    return started
  }

  function leastBusy(): Thread {
    let least: Thread | undefined
    for (const thread of threads) if (!least || thread.pending.size < least.pending.size) least = thread
    return !least || (least.pending.size >= jobsForNewThread && threads.size < most) ? start() : least
  }

  return {
    encrypt(payload, keys) {
      if (closed) return Promise.reject(new Error('the encryptor is closed'))
      const { worker, post, pending } = leastBusy()
      // A job keeps the process alive, an idle thread does not.
      worker.ref()
      const result = Promise.withResolvers<EncryptionResult>()
      const id = ++ids
      pending.set(id, result)
      post({ id, payload, keys })
      return result.promise
    },
    async close() {
      closed = true
      await Promise.all([...threads].map(({ worker }) => worker.terminate()))
    },
  }
}
