// Faults in the reading of requests, and in addresses.

import { setTimeout as sleep } from 'node:timers/promises'
import { error } from '../plain-operator.ts'
import { before, isSingle, type Mutant, whileRunning } from './mutant.ts'

export const httpMutants: readonly Mutant[] = [
  {
    fault: 'has no batches on-site',
    check: 'endpoint.offered',
    both: true,
    mutate: () =>
      before(
        ({ path }) => path === '/channels/site/batch',
        () => error(404, 'no such path'),
      ),
  },
  {
    fault: 'takes the rest of a refused request for the next one',
    check: 'http.keep-alive',
    mutate: () => {
      const spoilt = new WeakSet<object>()
      return {
        onSocket: ({ socket, headers }, response) => {
          if (spoilt.has(socket)) headers.spoilt = 'yes'
          response.once('finish', () => response.statusCode === 401 && spoilt.add(socket))
        },
        wrap: (next) => async (request) =>
          request.headers.spoilt ? { status: 501, headers: {}, body: ['Unsupported method'] } : next(request),
      }
    },
  },
  {
    fault: 'refuses a charset in the content type',
    check: 'http.charset',
    mutate: () =>
      before(isSingle, ({ headers }) =>
        headers['content-type']?.includes('charset') ? error(415, 'send application/json') : undefined,
      ),
  },
  {
    fault: 'refuses other content types',
    check: 'http.other-type',
    mutate: () =>
      before(isSingle, ({ headers }) =>
        headers['content-type']?.includes('application/json') ? undefined : error(415, 'send application/json'),
      ),
  },
  {
    fault: 'requires a Content-Length',
    check: 'http.chunked',
    mutate: () =>
      before(isSingle, ({ headers }) => (headers['content-length'] ? undefined : error(411, 'Length Required'))),
  },
  {
    fault: 'refuses unknown headers',
    check: 'http.tracking',
    mutate: () =>
      before(isSingle, ({ headers }) =>
        Object.keys(headers).some((name) => name.startsWith('x-fasttrack'))
          ? error(400, 'an unknown header')
          : undefined,
      ),
  },
  {
    fault: 'takes a compressed body for a malformed one',
    check: 'http.compressed',
    mutate: () => before(isSingle, ({ headers }) => (headers['content-encoding'] ? error(400, 'not JSON') : undefined)),
  },
  {
    fault: 'answers 404 to other methods',
    check: 'http.method',
    mutate: () => ({
      wrap: (next) => async (request) => (request.method === 'GET' ? error(404, 'none') : next(request)),
    }),
  },
  {
    fault: 'answers unknown paths with a page',
    check: 'http.path',
    mutate: () => ({
      wrap: (next) => async (request) =>
        request.path.endsWith('/none') ? { status: 404, headers: {}, body: ['<h1>Not Found</h1>'] } : next(request),
    }),
  },
  {
    fault: 'fails on long messages',
    check: 'size.message',
    mutate: () =>
      before(isSingle, ({ text }) => (text.length > 32_768 ? error(500, 'Internal Server Error') : undefined)),
  },
  {
    fault: 'answers 408 to a body that takes longer than 200 ms',
    check: 'time.slow-writer',
    mutate: () => before(isSingle, ({ bodyMs }) => (bodyMs > 200 ? error(408, 'Request Timeout') : undefined)),
  },
  {
    fault: 'reads one request at a time',
    check: 'time.beside-slow',
    mutate: () => {
      const reading = new Set<object>()
      return {
        onSocket: (incoming) => {
          reading.add(incoming)
          for (const event of ['end', 'close']) incoming.once(event, () => reading.delete(incoming))
        },
        wrap: (next) => async (request) => {
          for (; reading.size > 0; await sleep(20));
          return next(request)
        },
      }
    },
  },
  {
    fault: 'answers 429 to the eleventh message at once',
    check: 'time.burst',
    inFlight: true,
    mutate: () =>
      whileRunning(isSingle, (_, running) => (running.length >= 10 ? error(429, 'too many requests') : undefined)),
  },
]
