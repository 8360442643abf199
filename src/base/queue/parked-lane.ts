import type { Lane } from './queue.ts'

/** The settings of a lane of parked messages: it has items only after a replay. */
export const parkedLane: Omit<Lane, 'name'> = {
  order: 'none',
  max: 100,
  bytes: 4 * 1024 * 1024,
  spanMs: 0,
  concurrency: 1,
  timeoutMs: 30_000,
  keepFailed: true,
  retry: { firstMs: 500, mostMs: 30_000 },
}
