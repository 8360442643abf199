import { type ConnectionOptions, type Connections, openConnections } from './connections.ts'
import { createAuthorization, type Vapid } from './vapid.ts'

/** One push service: its connections, and the Authorization header for it. */
export interface Origin {
  readonly connections: Connections
  authorization(now: number): string
}

export interface OriginsOptions extends ConnectionOptions {
  readonly vapid: Vapid
  /** Replacement origins. Only these may have an address in this machine or its network. */
  readonly origins?: Readonly<Record<string, string>>
}

/** Some vendors have a host for each region. The number is limited because endpoints are user input. */
const mostOrigins = 256

/** Keeps connections to the push services that were used last. */
export function createOrigins({ vapid, origins = {}, ...options }: OriginsOptions): {
  of(origin: string): Origin
  close(): Promise<void>
} {
  const known = new Map<string, Origin>()
  const closing = new Set<Promise<void>>()

  function close(connections: Connections): void {
    const closed = connections.close()
    closing.add(closed)
    void closed.finally(() => closing.delete(closed))
  }

  function open(origin: string): Origin {
    const replacement = Object.hasOwn(origins, origin) ? origins[origin] : undefined
    return {
      connections: openConnections(replacement ?? origin, options, replacement === undefined ? 'guarded' : 'replaced'),
      authorization: createAuthorization(origin, vapid),
    }
  }

  return {
    of(origin) {
      const found = known.get(origin) ?? open(origin)
      // Moves the origin to the end: the least recently used origin is first.
      known.delete(origin)
      known.set(origin, found)
      if (known.size > mostOrigins) {
        const [oldest, { connections }] = known.entries().next().value as [string, Origin]
        known.delete(oldest)
        close(connections)
      }
      return found
    },
    async close() {
      for (const { connections } of known.values()) close(connections)
      known.clear()
      await Promise.all(closing)
    },
  }
}
