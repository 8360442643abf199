import { Pool } from 'undici'
import { type GuardedConnectOptions, guardedConnect } from './guarded-connect.ts'
import { createAuthorization, type Vapid } from './vapid.ts'

/** One push service: its connections, and the Authorization header for it. */
export interface Origin {
  readonly pool: Pool
  authorization(now: number): string
}

export interface OriginsOptions extends GuardedConnectOptions {
  readonly vapid: Vapid
  /** Replacement origins. Only these may have an address in this machine or its network. */
  readonly origins?: Readonly<Record<string, string>>
  /** Maximum number of connections to one origin. Over HTTP/1.1 a connection carries one message at a time. */
  readonly connections: number
}

/** Some vendors have a host for each region. The number is limited because endpoints are user input. */
const mostOrigins = 256

/** Keeps connections to the push services that were used last. */
export function createOrigins({ vapid, origins = {}, connections, ...guard }: OriginsOptions): {
  of(origin: string): Origin
  close(): Promise<void>
} {
  const known = new Map<string, Origin>()
  const closing = new Set<Promise<void>>()

  function close(pool: Pool): void {
    // Requests in flight are completed.
    const closed = pool.close().catch(() => {})
    closing.add(closed)
    void closed.finally(() => closing.delete(closed))
  }

  function open(origin: string): Origin {
    const replacement = Object.hasOwn(origins, origin) ? origins[origin] : undefined
    const pool = new Pool(replacement ?? origin, {
      connections,
      headersTimeout: 0,
      bodyTimeout: 0,
      ...(replacement === undefined && { connect: guardedConnect(guard) }),
    })
    return { pool, authorization: createAuthorization(origin, vapid) }
  }

  return {
    of(origin) {
      const found = known.get(origin) ?? open(origin)
      // Moves the origin to the end: the least recently used origin is first.
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
