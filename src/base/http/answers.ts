// A limit on the bytes of answers that their clients have not read yet.

import type { FastifyInstance } from 'fastify'
import { clock } from '../runtime/clock.ts'
import { HttpError } from './http-error.ts'
import { createBudget } from './request-bodies.ts'

/** Smaller answers are not counted: the limit of connections bounds them. */
const smallBytes = 4 * 1024
const bytesInFlight = 256 * 1024 * 1024
/** Users have a separate share, so that they cannot block the answers to keys. */
const bytesOfUsers = 64 * 1024 * 1024
// Of the whole process: its sides and their servers share the memory.
const ofUsers = createBudget(bytesOfUsers)
const ofOthers = createBudget(bytesInFlight)
/** A user who has not read an answer by then loses the connection. */
const userTimeoutMs = 60_000

/**
 * Counts each answer until it is sent. Beyond the limit, a GET is answered 503. The answer to another method is sent: its effect has
 * happened. Streams are not counted, since they are produced only as fast as the client reads.
 */
export function boundAnswers(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    const bytes = typeof payload === 'string' || Buffer.isBuffer(payload) ? payload.length : 0
    if (bytes < smallBytes) return done(null, payload)
    const isOfUser = request.routeOptions.url?.startsWith('/app/') ?? false
    const budget = isOfUser ? ofUsers : ofOthers
    if (!budget.reserve(bytes)) {
      const refused = request.method === 'GET'
      return refused
        ? done(new HttpError(503, 'too many answers are being sent now: retry later', 1))
        : done(null, payload)
    }
    const timeout = isOfUser ? clock.setTimeout(() => reply.raw.destroy(), userTimeoutMs).unref() : undefined
    reply.raw.once('close', () => {
      budget.release(bytes)
      if (timeout) clock.clearTimeout(timeout)
    })
    done(null, payload)
  })
}
