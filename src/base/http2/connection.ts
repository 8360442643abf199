// The interface of one HTTP/2 connection to an origin. session.ts implements it, and client.ts uses it.

import type { LookupFunction, Socket } from 'node:net'

export interface Http2Request {
  readonly path: string
  /** Names in lower case and values, alternating. An object instead of this array would cost a sixth of a request's CPU. */
  readonly headers: readonly string[]
  /** Names of headers whose values differ in each request. The HPACK table keeps their names, but not their values. */
  readonly unindexed?: readonly string[]
  readonly body: string | Buffer
}

export type Exchanged =
  | {
      readonly status: number
      readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
      readonly body: Buffer
      /** The body was longer than the maximum; `body` is its beginning. */
      readonly cut: boolean
    }
  /** No answer, or only a part of it. `written`: the other side may have acted on the request. */
  | { readonly lost: Error & { readonly code?: string }; readonly written: boolean }

/**
 * How a request ended. 'refused' (the peer reset the stream) and 'unprocessed' (the connection ended first): the protocol
 * guarantees that the peer has not processed the request, so it can be sent again.
 */
export type End = Exchanged | 'refused' | 'unprocessed'

export interface ConnectionLimits {
  /** Maximum number of concurrent streams, even if the peer allows more. */
  readonly streams: number
  /** Maximum time until the peer's SETTINGS arrive, and until it acknowledges ours. */
  readonly connectTimeoutMs: number
  /** If nothing was received from the peer for this time, it must answer a PING before it gets another request. */
  readonly pingAfterMs: number
  readonly pingTimeoutMs: number
}

export interface Connection {
  /** pinging: a PING is not answered yet; draining: no further requests are started, and requests in flight may end. */
  readonly state: 'opening' | 'open' | 'pinging' | 'draining' | 'ended'
  /** How many more requests can be started now. Sends a PING and returns 0 if the idle peer has been silent for `pingAfterMs`. */
  freeStreams(): number
  /** @returns a function that cancels the request, and returns whether any of it may have been written */
  start(request: Http2Request, onEnd: (end: End) => void): (reason: 'late' | 'aborted') => boolean
  /** Closes the connection when no request is in flight, or after `withinMs`. */
  close(withinMs: number): Promise<void>
}

export interface ConnectionListener {
  /** The number of free streams may have changed. */
  changed(): void
  /** @param opened whether the connection was ever usable */
  ended(error: Error, opened: boolean): void
}

export interface ConnectionOptions {
  /** https://api.push.apple.com: TLS. An http:// origin uses HTTP/2 without TLS (prior knowledge). */
  readonly origin: string
  /** Certificates to trust instead of the system's, as PEM. */
  readonly ca: string | undefined
  /** Resolves the host. Absent: the system's resolver. */
  readonly lookup?: LookupFunction | undefined
  /** A socket through a proxy, on which the connection is opened. Absent: the connection opens its own. */
  readonly tunnel: Socket | undefined
  readonly limits: ConnectionLimits
}

/** The `code` of an error that concerns one stream, not the connection. */
export const streamReset = 'STREAM_RESET'

/** The `code` of an error of a server that does not speak HTTP/2. */
export const noHttp2 = 'NO_HTTP2'

/** The `code` of an error for a request that cannot be encoded, and so was not sent. */
export const notEncodable = 'NOT_ENCODABLE'

/** Longer bodies of answers are cut. Our peers send shorter ones. */
export const mostAnswerBytes = 64 * 1024

/** With no requests in flight, the time that remains for the last frames. */
export const lingerMs = 250
