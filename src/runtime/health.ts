import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { HttpError } from './http.ts'
import { metrics, metricsText } from './metrics.ts'

export interface Health {
  /** Rejects when the process cannot do its work now. */
  readonly check: () => Promise<unknown>
  readonly signal: AbortSignal
}

export const healthDescribed = [
  { method: 'GET', url: '/healthz', says: 'The process lives.' },
  { method: 'GET', url: '/readyz', says: 'It may get traffic: its store answers, and it is not stopping.' },
  {
    method: 'GET',
    url: '/metrics',
    says: 'Metrics, as Prometheus reads them.',
    gives: { 'text/plain': Type.String() },
  },
] as const

/** /healthz: the process lives. /readyz: it may get traffic. /metrics: Prometheus text. */
export function healthRoutes(app: FastifyInstance, { check, signal }: Health): void {
  metrics() // counting begins now, not with the first scrape
  app.get('/healthz', async () => ({ ok: true }))
  app.get('/readyz', async () => {
    if (signal.aborted) throw new HttpError(503, 'stopping', 1)
    try {
      await check()
    } catch (error) {
      throw new HttpError(503, 'the store cannot answer: the log says why', 1, { cause: error })
    }
    return { ok: true }
  })
  app.get('/metrics', async (_request, reply) => reply.type('text/plain; version=0.0.4').send(await metricsText()))
}
