import { Pool } from 'undici'
import { type GuardOptions, guardedConnect } from './guarded-connect.ts'
import { createAuthorization, type Vapid } from './vapid.ts'

/** One push service: how it is reached, and how we name ourselves to it. */
export interface Origin {
  readonly pool: Pool
  authorization(now: number): string
}

export interface OriginsOptions extends GuardOptions {
  readonly vapid: Vapid
  /** Origins that are served elsewhere; these alone may be inside. */
  readonly origins?: Readonly<Record<string, string>>
  /** Most connections to one of them: over HTTP/1.1 each carries one message at a time. */
  readonly connections: number
}

/** Some makers have a host for each region; endpoints are user input, so there is an end to it. */
const mostOrigins = 256

/** The push services that were sent to lately, each with its own connections. */
export function createOrigins({ vapid, origins = {}, connections, ...guard }: OriginsOptions): {
  of(origin: string): Origin
  close(): Promise<void>
} {
  const known = new Map<string, Origin>()
  const closing = new Set<Promise<void>>()

  function close(pool: Pool): void {
    // What is under way on it ends well.
    const closed = pool.close().catch(() => {})
    closing.add(closed)
    void closed.finally(() => closing.delete(closed))
  }

  function open(origin: string): Origin {
    const elsewhere = Object.hasOwn(origins, origin) ? origins[origin] : undefined
    const pool = new Pool(elsewhere ?? origin, {
      connections,
      headersTimeout: 0,
      bodyTimeout: 0,
      ...(elsewhere === undefined && { connect: guardedConnect(guard) }),
    })
    return { pool, authorization: createAuthorization(origin, vapid) }
  }

  return {
    of(origin) {
      const found = known.get(origin) ?? open(origin)
      // The one that was not used for the longest time stands first.
      known.delete(origin)
      known.set(origin, found)
      if (known.size > mostOrigins) {
        const [oldest, { pool }] = known.entries().next().value as [string, Origin]
        known.delete(oldest)
        close(pool)
      }
      return found
    },
    async close() {
      for (const { pool } of known.values()) close(pool)
      known.clear()
      await Promise.all(closing)
    },
  }
}
