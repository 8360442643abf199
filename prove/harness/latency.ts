import { Worker } from 'node:worker_threads'

/** One request of a bystander, who wants nothing but to be served as before. */
export interface Sample {
  /** When its answer was there. */
  readonly at: number
  readonly ms: number
  readonly status: number
}

export interface LatencyPlan {
  readonly url: string
  readonly key: string
  /** A request body, where ID stands for the number of the message. */
  readonly body: string
  /** From one answer to the next request. */
  readonly restMs: number
}

export interface Latency {
  readonly samples: readonly Sample[]
  /** Resolves with the next so many. */
  next(count: number): Promise<readonly Sample[]>
  stop(): Promise<void>
}

/** Asks over and over, in a thread of its own: what else this process is doing does not count. */
export function measureLatency(plan: LatencyPlan, signal: AbortSignal): Latency {
  const worker = new Worker(new URL('../processes/latency-worker.ts', import.meta.url), { workerData: plan })
  const samples: Sample[] = []
  const waits = new Set<() => void>()
  const failed = Promise.withResolvers<never>()
  failed.promise.catch(() => {})
  worker.on('message', (sample: Sample) => {
    samples.push(sample)
    for (const look of waits) look()
  })
  worker.on('error', failed.reject)
  signal.addEventListener('abort', () => failed.reject(signal.reason))
  return {
    samples,
    async next(count) {
      const from = samples.length
      const { promise, resolve } = Promise.withResolvers<void>()
      const look = (): void => {
        if (samples.length >= from + count) resolve()
      }
      waits.add(look)
      await Promise.race([promise, failed.promise]).finally(() => waits.delete(look))
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
