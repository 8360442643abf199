// The HTTP clients of undici, always over HTTP/1.1. By default undici agrees with a TLS server on HTTP/2, over node:http2: a server that
// violates the protocol ends the process there, by a failed assertion in native code. Only this file creates clients of undici.

import { Agent, buildConnector, Client, type Dispatcher, Pool, ProxyAgent, request } from 'undici'

/** @example const pool = openPool('https://operator.example', { connections: 4 }) */
export const openPool = (origin: string, options: Pool.Options = {}): Pool =>
  new Pool(origin, { ...options, allowH2: false })

/** One connection. */
export const openClient = (origin: string, options: Client.Options = {}): Client =>
  new Client(origin, { ...options, allowH2: false })

/** Connections through an HTTP proxy. */
export const openProxy = (options: ProxyAgent.Options): ProxyAgent => new ProxyAgent({ ...options, allowH2: false })

/** The connector of a pool that decides itself which addresses it connects to. */
export const createConnector = (options: buildConnector.BuildOptions): buildConnector.connector =>
  buildConnector({ ...options, allowH2: false })

let shared: Agent | undefined

/** A request over connections that are shared and kept open. */
export function requestOnce(
  url: string | URL,
  options: Omit<Parameters<typeof request>[1], 'dispatcher'>,
): Promise<Dispatcher.ResponseData> {
  shared ??= new Agent({ allowH2: false })
  return request(url, { ...options, dispatcher: shared })
}
