// The connections to one push service: over HTTP/2, as to FCM and APNs, or over HTTP/1.1 if the service does not speak HTTP/2.

import { lookup as systemLookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { type Caller, createCaller } from '../../../base/http-client/caller.ts'
import type { Exchanged } from '../../../base/http-client/exchange.ts'
import { createHttp2Client } from '../../../base/http2/client.ts'
import { noHttp2 } from '../../../base/http2/connection.ts'
import type { SendContext } from '../provider.ts'
import { isPublic } from './addresses.ts'
import { forbiddenHost, type GuardedConnectOptions, guardedConnect, guardedLookup } from './guarded-connect.ts'

export interface ConnectionOptions extends GuardedConnectOptions {
  /** Maximum number of concurrent requests. */
  readonly concurrency: number
  /** An HTTP proxy. The proxy resolves the host, so only an address in the endpoint itself is refused here. */
  readonly proxy?: string | undefined
}

export interface PushRequest {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

export interface Connections {
  /** POSTs and collects the answer. Never rejects. */
  post(request: PushRequest, context: SendContext): Promise<Exchanged>
  /** Completes the requests in flight. */
  close(): Promise<void>
}

/** Push services allow about 100 streams on each connection. */
const mostHttp2Connections = 10
const mostAnswerBytes = 4_096
/** A server that speaks only HTTP/1.1 may refuse the TLS handshake: ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL. */
const isWithoutHttp2 = ({ code }: { readonly code?: unknown }): boolean =>
  code === noHttp2 || String(code).endsWith('NO_APPLICATION_PROTOCOL')
/** The topic differs in each message. */
const unindexed = ['topic']

/** @param guard absent: the origin is a replacement, which may have any address */
export function openConnections(
  origin: string,
  { concurrency, proxy, ca, ...options }: ConnectionOptions,
  guard: 'guarded' | 'replaced',
): Connections {
  const { protocol, hostname } = new URL(origin)
  const { allowed = isPublic, lookup = systemLookup as LookupFunction } = options
  const isGuarded = guard === 'guarded'
  const forbidden = isGuarded ? forbiddenHost(hostname, allowed) : undefined
  const client =
    protocol === 'https:'
      ? createHttp2Client({
          origin,
          connections: mostHttp2Connections,
          proxy,
          ca,
          ...(isGuarded && { lookup: guardedLookup(lookup, allowed) }),
        })
      : undefined
  let overHttp2 = client !== undefined
  let caller: Caller | undefined

  function postOverHttp1(request: PushRequest, { deadline, signal }: SendContext): Promise<Exchanged> {
    const connector = isGuarded ? guardedConnect({ lookup, allowed, ...(ca !== undefined && { ca }) }) : undefined
    caller ??= createCaller({ url: origin, connections: concurrency, proxy, ca, connector })
    return caller.call({ ...request, most: mostAnswerBytes, deadline, signal })
  }

  return {
    async post(request, context) {
      if (forbidden) return { lost: forbidden, written: false }
      if (client && overHttp2) {
        const { path, headers, body } = request
        const exchanged = await client.post({
          path,
          headers: Object.entries(headers).flat(),
          unindexed,
          body,
          ...context,
        })
        if (!('lost' in exchanged) || !isWithoutHttp2(exchanged.lost)) return exchanged
        overHttp2 = false
      }
      return postOverHttp1(request, context)
    },
    async close() {
      await Promise.all([client?.close(), caller?.close().catch(() => {})])
    },
  }
}
