import type { FastifyInstance } from 'fastify'
import { HttpError } from './http.ts'
import { metrics, metricsText } from './metrics.ts'

export interface Health {
  /** Rejects when the process cannot do its work now. */
  readonly check: () => Promise<unknown>
  readonly signal: AbortSignal
}

/** /healthz: the process lives. /readyz: it may get traffic. /metrics: Prometheus text. */
export function healthRoutes(app: FastifyInstance, { check, signal }: Health): void {
  metrics() // counting begins now, not with the first scrape
  app.get('/healthz', async () => ({ ok: true }))
  app.get('/readyz', async () => {
    if (signal.aborted) throw new HttpError(503, 'stopping', 1)
    try {
      await check()
    } catch (error) {
      throw new HttpError(503, `the store cannot answer: ${(error as Error).message}`, 1)
    }
    return { ok: true }
  })
  app.get('/metrics', async (_request, reply) => reply.type('text/plain; version=0.0.4').send(await metricsText()))
}
