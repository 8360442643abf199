// Measures requests for the metrics.

import type { FastifyInstance } from 'fastify'
import { clock } from '../runtime/clock.ts'
import { emit, hasListeners } from '../runtime/events.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** By clock.monotonic(). */
    receivedAt: number
  }
}

/**
 * Reports each request with the time from its headers to the beginning of its answer, because a client may read an answer for hours.
 * Call it before all other hooks of requests, and after those of answers.
 */
export function measureRequests(app: FastifyInstance, side: 'operator' | 'platform'): void {
  app.decorateRequest('receivedAt', 0)
  app.addHook('onRequest', (request, _reply, done) => {
    request.receivedAt = clock.monotonic()
    done()
  })
  app.addHook('onSend', (request, reply, payload, done) => {
    const { url: route } = request.routeOptions
    if (hasListeners('request.answered'))
      emit('request.answered', {
        side,
        // A stranger may send every method to paths without a route: they share one series.
        method: route === undefined ? '' : request.method,
        route: route ?? '',
        status: classes[Math.floor(reply.statusCode / 100)] ?? 'other',
        ms: clock.monotonic() - request.receivedAt,
      })
    done(null, payload)
  })
}

const classes = ['other', '1xx', '2xx', '3xx', '4xx', '5xx']
