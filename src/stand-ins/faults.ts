// Fault scripts: what a stand-in does to requests instead of, or beside, serving them well.

export interface Fault {
  /** Only requests for this device token. */
  readonly token?: string
  /** Every so-manieth request that it looks at; 1, the default: each. */
  readonly every?: number
  /** This share of them, from 0 to 1, drawn from a fixed seed: the same run draws the same. */
  readonly share?: number
  /** Over after so many; absent: stays. */
  readonly times?: number
  readonly delayMs?: number
  /** before: the stream is reset and nothing was accepted. after: it was accepted, and its answer is lost. */
  readonly reset?: 'before' | 'after'
  /** The connection says GOAWAY with this request; streams with later numbers are refused. */
  readonly goaway?: true
  /** This answer instead of the real one; nothing is accepted. */
  readonly answer?: {
    readonly status: number
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: string
  }
}

export interface Faults {
  /** @returns a function that takes the fault back */
  play(fault: Fault): () => void
  /** The fault that meets this request, the first one played that fits. */
  meet(token: string): Fault | undefined
}

/** @example const faults = createFaults(); faults.play({ every: 500, goaway: true }); faults.meet('t-1') */
export function createFaults(seed = 1): Faults {
  const played = new Set<{ readonly fault: Fault; seen: number; left: number }>()
  let state = seed
  return {
    play(fault) {
      const entry = { fault, seen: 0, left: fault.times ?? Number.POSITIVE_INFINITY }
      played.add(entry)
      return () => void played.delete(entry)
    },
    meet(token) {
      for (const entry of played) {
        const { fault } = entry
        if (fault.token !== undefined && fault.token !== token) continue
        entry.seen++
        if (entry.seen % (fault.every ?? 1) !== 0) continue
        if (fault.share !== undefined && draw() >= fault.share) continue
        if (--entry.left <= 0) played.delete(entry)
        return fault
      }
      return undefined
    },
  }

  /** mulberry32 */
  function draw(): number {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}
