// The HTTP clients of undici, always over HTTP/1.1. By default undici agrees with a TLS server on HTTP/2, over node:http2: a server that
// violates the protocol ends the process there, by a failed assertion in native code. Only this file creates clients of undici.

import { Agent, buildConnector, type Dispatcher, Pool, ProxyAgent, request } from 'undici'

/** How an address is reached. Certificates and keys are PEM. */
export interface ConnectionOptions {
  /** An HTTP proxy: http://USER:PASSWORD@HOST:PORT. Addresses with https are called through it by CONNECT. */
  readonly proxy?: string | undefined
  /** Certificates of authorities, instead of those of the system. */
  readonly ca?: string | readonly string[] | undefined
  /** The certificate with which we authenticate ourselves to the server (mutual TLS), and its key. */
  readonly clientCertificate?: string | undefined
  readonly clientKey?: string | undefined
}

export interface DispatcherOptions extends ConnectionOptions {
  /** The most connections. Default: no limit. */
  readonly connections?: number | undefined
  /** The longest wait for the head of an answer, and for its next bytes. Default: no limit. */
  readonly idleMs?: number | undefined
  /** Certificate pinning: the connection accepts only this certificate of the server (PEM), under any name. */
  readonly pinned?: string | undefined
  /** Connects without a proxy, and decides itself which addresses are allowed. */
  readonly connector?: buildConnector.connector | undefined
}

/** @example openDispatcher('https://operator.example', { connections: 4, proxy: 'http://proxy.example:3128' }) */
export function openDispatcher(origin: string, options: DispatcherOptions = {}): Dispatcher {
  const { connections, connector, proxy, idleMs = 0 } = options
  const limits = { pipelining: 1, headersTimeout: idleMs, bodyTimeout: idleMs }
  const all = { allowH2: false, ...limits, ...(connections !== undefined && { connections }) }
  const tls = tlsOf(options)
  if (proxy !== undefined) return new ProxyAgent({ ...all, uri: proxy, requestTls: tls })
  return new Pool(origin, { ...all, connect: connector ?? tls })
}

function tlsOf(options: DispatcherOptions): buildConnector.BuildOptions {
  const { ca, clientCertificate: cert, clientKey: key, pinned } = options
  if (pinned !== undefined) return { ca: pinned, allowPartialTrustChain: true, checkServerIdentity: () => undefined }
  return { ...(ca !== undefined && { ca: ca as string | string[] }), ...(cert !== undefined && { cert, key }) }
}

/** The connector of a dispatcher that decides itself which addresses it connects to. */
export const createConnector = (options: buildConnector.BuildOptions): buildConnector.connector =>
  buildConnector({ ...options, allowH2: false })

let shared: Agent | undefined

/** A request over connections that are shared and kept open, for the fakes. */
export function requestOnce(
  url: string,
  options: Omit<Parameters<typeof request>[1], 'dispatcher'>,
): Promise<Dispatcher.ResponseData> {
  shared ??= new Agent({ allowH2: false })
  return request(url, { ...options, dispatcher: shared })
}
