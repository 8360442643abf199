// Counts the refused keys for the audit trail: at most one entry a minute for each address and reason, so that a stranger who
// guesses keys cannot fill the disk.

import { clock } from '../../base/runtime/clock.ts'
import type { NewAuditEntry } from './table.ts'

export interface Refusal {
  /** An address, or an IPv6 network. */
  readonly address: string
  /** The name of a known key that may not call the route. Absent: the key is unknown. */
  readonly by?: string
  readonly reason: string
}

export interface RefusedKeys {
  count(refusal: Refusal): void
  /** Counts an unknown key from this address. */
  countUnknown(address: string): void
  stop(): Promise<void>
}

const everyMs = 60_000
/** Refusals that are counted separately in a minute; the others are counted together. */
const mostSeparate = 20
const others: Refusal = { address: 'others', reason: 'further addresses and reasons' }

/** @param store stores entries; if it rejects, they are stored a minute later */
export function createRefusedKeys(store: (entries: readonly NewAuditEntry[]) => Promise<unknown>): RefusedKeys {
  const counts = new Map<string, { readonly refusal: Refusal; count: number }>()
  let timer: NodeJS.Timeout | undefined

  function add(refusal: Refusal, count: number): void {
    const key = JSON.stringify(refusal)
    const counted = counts.get(key)
    if (counted) counted.count += count
    else if (counts.size >= mostSeparate && refusal !== others) add(others, count)
    else counts.set(key, { refusal, count })
    timer ??= clock.setTimeout(() => void flush().catch(() => {}), everyMs).unref()
  }

  async function flush(): Promise<void> {
    clock.clearTimeout(timer)
    timer = undefined
    const counted = [...counts.values()]
    counts.clear()
    if (counted.length === 0) return
    try {
      await store(
        counted.map(({ refusal: { by = '', ...rest }, count }) => ({ act: 'keys.refuse', by, ...rest, count })),
      )
    } catch (error) {
      for (const { refusal, count } of counted) add(refusal, count)
      throw error
    }
  }

  return {
    count: (refusal) => add(refusal, 1),
    countUnknown: (address) => add({ address, reason: 'unknown key' }, 1),
    stop: () =>
      flush()
        .catch(() => {})
        .finally(() => clock.clearTimeout(timer)),
  }
}
