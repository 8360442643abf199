import type { Lane } from './queue.ts'

export interface OutboxLane {
  readonly name: string
  /** Most items in one call, and most calls at once. */
  readonly max: number
  readonly concurrency: number
  /** Default: 15 s. */
  readonly timeoutMs?: number | undefined
  /** Default: from 1 s to 5 min. */
  readonly retry?: { readonly firstMs?: number; readonly mostMs?: number } | undefined
}

/** The lane of an outbox, whose items are sent in order for each user. */
export const outboxLane = ({ retry, timeoutMs = 15_000, ...lane }: OutboxLane): Lane => ({
  ...lane,
  order: 'user',
  bytes: 2 * 1024 * 1024,
  spanMs: 0,
  timeoutMs,
  keepFailed: true,
  retry: { firstMs: retry?.firstMs ?? 1_000, mostMs: retry?.mostMs ?? 300_000 },
})
