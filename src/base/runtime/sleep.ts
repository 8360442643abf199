import { clock } from './clock.ts'

/** Waits. Resolves early if the signal aborts. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clock.clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = clock.setTimeout(end, ms)
    signal?.addEventListener('abort', end)
    if (signal?.aborted) end()
  })
}
