import type { Exchanged } from '../../../base/http-client/exchange.ts'
import { clock } from '../../../base/runtime/clock.ts'
import type { SendContext } from '../provider.ts'
import { type ConnectionOptions, type Connections, openConnections, type PushRequest } from './connections.ts'
import { createAuthorization, type Vapid } from './vapid.ts'

/** One push service: its connections, and the Authorization header for it. */
export interface Origin {
  /** It answered a request, whatever the answer. */
  readonly answered: boolean
  /** POSTs and collects the answer. Never rejects. */
  post(request: PushRequest, context: SendContext): Promise<Exchanged>
  authorization(now: number): string
}

interface OpenOrigin extends Origin {
  answered: boolean
  readonly connections: Connections
  inFlight: number
  usedAt: number
}

export interface OriginsOptions extends ConnectionOptions {
  readonly vapid: Vapid
  /** Replacement origins. Only these may have an address in this machine or its network. */
  readonly origins?: Readonly<Record<string, string>>
}

/** Some vendors have a host for each region. The number is limited because endpoints are user input. */
const mostOrigins = 256
const mostSignatures = 1_024
/** The connections of an origin without messages are closed after this time. Then HTTP/2 is tried again. */
const idleAfterMs = 5 * 60_000

/** Keeps connections to the push services that were used last. */
export function createOrigins({ vapid, origins = {}, ...options }: OriginsOptions): {
  of(origin: string): Origin
  /** The number of open origins. */
  readonly size: number
  close(): Promise<void>
} {
  const known = new Map<string, OpenOrigin>()
  /** A signature outlives the connections: Apple asks for few renewals. */
  const signatures = new Map<string, OpenOrigin['authorization']>()
  const closing = new Set<Promise<void>>()

  function close(origin: string, { connections }: OpenOrigin): void {
    known.delete(origin)
    const closed = connections.close()
    closing.add(closed)
    void closed.finally(() => closing.delete(closed))
  }

  const idleCheck = clock
    .setInterval(() => {
      const now = clock.monotonic()
      for (const [origin, opened] of known)
        if (opened.inFlight === 0 && now - opened.usedAt >= idleAfterMs) close(origin, opened)
    }, idleAfterMs / 5)
    .unref()

  function open(origin: string): OpenOrigin {
    const replacement = Object.hasOwn(origins, origin) ? origins[origin] : undefined
    const connections = openConnections(
      replacement ?? origin,
      options,
      replacement === undefined ? 'guarded' : 'replaced',
    )
    const authorization = signatures.get(origin) ?? createAuthorization(origin, vapid)
    signatures.delete(origin)
    signatures.set(origin, authorization)
    if (signatures.size > mostSignatures) signatures.delete(signatures.keys().next().value as string)
    const opened: OpenOrigin = {
      connections,
      answered: false,
      inFlight: 0,
      usedAt: clock.monotonic(),
      authorization,
      async post(request, context) {
        opened.inFlight++
        try {
          const exchanged = await connections.post(request, context)
          if (!('lost' in exchanged)) opened.answered = true
          return exchanged
        } finally {
          opened.inFlight--
          opened.usedAt = clock.monotonic()
        }
      },
    }
    return opened
  }

  return {
    of(origin) {
      const found = known.get(origin) ?? open(origin)
      found.usedAt = clock.monotonic()
      // Moves the origin to the end: the least recently used origin is first.
      known.delete(origin)
      known.set(origin, found)
      if (known.size > mostOrigins) close(...(known.entries().next().value as [string, OpenOrigin]))
      return found
    },
    get size() {
      return known.size
    },
    async close() {
      clock.clearInterval(idleCheck)
      for (const [origin, opened] of known) close(origin, opened)
      await Promise.all(closing)
    },
  }
}
