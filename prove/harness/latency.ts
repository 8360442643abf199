import { Worker } from 'node:worker_threads'

/** One request of an uninvolved client during an attack. */
export interface Sample {
  /** When the answer arrived. */
  readonly at: number
  readonly ms: number
  readonly status: number
}

export interface LatencyPlan {
  readonly url: string
  readonly key: string
  /** A request body in which ID is replaced by the number of the message. */
  readonly body: string
  /** The pause between an answer and the next request. */
  readonly restMs: number
}

export interface Latency {
  readonly samples: readonly Sample[]
  /** Resolves with the next `count` samples. */
  next(count: number): Promise<readonly Sample[]>
  stop(): Promise<void>
}

/** Sends requests continuously, in a separate thread, so that other work of this process does not distort the times. */
export function measureLatency(plan: LatencyPlan, signal: AbortSignal): Latency {
  const worker = new Worker(new URL('../processes/latency-worker.ts', import.meta.url), { workerData: plan })
  const samples: Sample[] = []
  const listeners = new Set<() => void>()
  const failed = Promise.withResolvers<never>()
  failed.promise.catch(() => {})
  worker.on('message', (sample: Sample) => {
    samples.push(sample)
    for (const notify of listeners) notify()
  })
  worker.on('error', failed.reject)
  signal.addEventListener('abort', () => failed.reject(signal.reason))
  return {
    samples,
    async next(count) {
      const from = samples.length
      const { promise, resolve } = Promise.withResolvers<void>()
      const check = (): void => {
        if (samples.length >= from + count) resolve()
      }
      listeners.add(check)
      await Promise.race([promise, failed.promise]).finally(() => listeners.delete(check))
      return samples.slice(from, from + count)
    },
    async stop() {
      await worker.terminate()
    },
  }
}

/** @example quantile([3, 1, 2], 0.5) // 2 */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}
