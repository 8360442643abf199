// Faults: the errors that a stand-in injects into its handling of requests.

export interface Fault {
  /** Only requests for this device token. */
  readonly token?: string
  /** Only requests for these device tokens. */
  readonly tokens?: ReadonlySet<string>
  /** Every n-th matching request. Default: 1, each request. */
  readonly every?: number
  /** The share of matching requests, from 0 to 1. Random with a fixed seed, so that a run can be repeated. */
  readonly share?: number
  /** The fault ends after this number of requests. Default: it does not end. */
  readonly times?: number
  readonly delayMs?: number
  /** before: the stream is reset, and the message is not accepted. after: the message is accepted, and its answer is lost. */
  readonly reset?: 'before' | 'after'
  /** With this request, the server sends GOAWAY. Streams with higher numbers are not processed. */
  readonly goaway?: true
  /** The answer instead of the real one. The message is not accepted. */
  readonly answer?: {
    readonly status: number
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: string
  }
}

export interface Faults {
  /** Adds a fault. @returns a function that removes it */
  play(fault: Fault): () => void
  /** The fault for a request to this token: the first that matches, in the order in which they were added. */
  match(token: string): Fault | undefined
}

/** @example const faults = createFaults(); faults.play({ every: 500, goaway: true }); faults.match('t-1') */
export function createFaults(seed = 1): Faults {
  const active = new Set<{ readonly fault: Fault; seen: number; left: number }>()
  let state = seed
  return {
    play(fault) {
      const entry = { fault, seen: 0, left: fault.times ?? Number.POSITIVE_INFINITY }
      active.add(entry)
      return () => void active.delete(entry)
    },
    match(token) {
      for (const entry of active) {
        const { fault } = entry
        if (fault.token !== undefined && fault.token !== token) continue
        if (fault.tokens?.has(token) === false) continue
        entry.seen++
        if (entry.seen % (fault.every ?? 1) !== 0) continue
        if (fault.share !== undefined && random() >= fault.share) continue
        if (--entry.left <= 0) active.delete(entry)
        return fault
      }
      return undefined
    },
  }

  /** The random number generator mulberry32. */
  function random(): number {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}
