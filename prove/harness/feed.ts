import { enqueue } from './http.ts'
import { ndjson, records } from './records.ts'

/** Enqueues the records in order. A request that is not answered is repeated. */
export function createFeed(platformUrl: string, each: number) {
  let accepted = 0
  let stopped = true
  let running: Promise<void> = Promise.resolve()
  async function send(): Promise<void> {
    await enqueue(platformUrl, 'push', ndjson(records(accepted, each)))
    accepted += each
    await pause()
  }
  return {
    accepted: () => accepted,
    async upTo(count: number): Promise<void> {
      while (accepted < count) await (stopped ? send() : pause())
    },
    /** Goes on until stop(), also while the platform is away. */
    start(): void {
      stopped = false
      running = (async () => {
        while (!stopped) await send().catch(pause)
      })()
    },
    stop(): Promise<void> {
      stopped = true
      return running
    },
  }
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 50))
