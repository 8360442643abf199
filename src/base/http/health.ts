import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { metrics, metricsText } from '../runtime/metrics.ts'
import { isLoopbackAddress } from './address.ts'
import { HttpError } from './http.ts'
import { judgeHost } from './local-request.ts'

export interface Health {
  /** Rejects if the process cannot work now. */
  readonly check: () => Promise<unknown>
  /** Aborted when the process begins to stop. */
  readonly signal: AbortSignal
  /** Members of the answer of /readyz for people to read. */
  readonly details?: () => object | Promise<object>
}

export const healthDescribed = [
  { method: 'GET', url: '/healthz', says: 'Liveness: the process is running.' },
  { method: 'GET', url: '/readyz', says: 'Readiness: the store accepts writes, and the process is not stopping.' },
  {
    method: 'GET',
    url: '/metrics',
    says: 'Metrics in the text format of Prometheus.',
    files: { 'text/plain': Type.String() },
  },
] as const

/** /healthz: liveness. /readyz: readiness for traffic. /metrics: Prometheus text. */
export function healthRoutes(app: FastifyInstance, { check, signal, details = () => ({}) }: Health): void {
  metrics() // start counting now, not at the first scrape
  app.get('/healthz', async () => ({ ok: true }))
  app.get('/readyz', async () => {
    if (signal.aborted) throw new HttpError(503, 'stopping', 1)
    try {
      await check()
    } catch (error) {
      throw new HttpError(503, 'the store can store nothing: the log says why', 1, { cause: error })
    }
    return { ok: true, ...(await details()) }
  })
  app.get('/metrics', async ({ raw }, reply) => {
    // A web page on this machine must not read them under a name that it resolves to a loopback address.
    const refusal = isLoopbackAddress(raw.socket.localAddress) && judgeHost(raw.headers.host, raw.socket.localPort ?? 0)
    if (refusal) throw new HttpError(refusal.status, refusal.error)
    return reply.type('text/plain; version=0.0.4').send(await metricsText())
  })
}
