// A fake operator: the real operator in memory, behind a server that deviates from it on request and lists the received requests.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { listen } from '../../base/http/http.ts'
import { clock } from '../../base/runtime/clock.ts'
import { createFaultScript } from '../../base/runtime/fault-script.ts'
import { readBody } from '../../base/runtime/read-body.ts'
import { resetSocket } from '../../base/runtime/reset-socket.ts'
import type { Channel, Mode } from '../../contract/endpoints.ts'
import { createOperator } from '../../sides/operator/create-operator.ts'
import { fileSource } from '../../subjects/attributes/file.ts'
import { recording } from '../../subjects/providers/recording.ts'
import type { Arrival } from './arrival.ts'
import { type Behaviour, endpointOf, readBehaviour } from './behaviour.ts'
import { findBehaviour } from './behaviours.ts'
import { controlPath, serveControl } from './control.ts'
import { forceOutcomes } from './forced-outcomes.ts'
import { exchange, forward, reply, shorten } from './forward.ts'
import { messagesOf } from './messages-of.ts'
import { type OpenServer, openServer } from './open-server.ts'
import { createRecorder } from './recorder.ts'

export interface FakeOperatorOptions {
  readonly host: string
  /** 0: a free port. */
  readonly port: number
  readonly apiKey: string
  readonly brands: readonly string[]
  /** A CSV or NDJSON file of user attributes (docs/attributes.md). Absent: no user is blocked, and there are no lists. */
  readonly users?: string
  readonly onArrival?: (arrival: Arrival) => void
}

/**
 * @returns with {base_url} of §4.1
 * @example
 * const fake = await startFakeOperator({ host: '127.0.0.1', port: 0, apiKey: 'example-operator-key-1', brands: ['1'] })
 * // POST /fake/behaviours {"every": 3, "answer": {"status": 500}}
 */
export async function startFakeOperator(options: FakeOperatorOptions): Promise<OpenServer> {
  const { apiKey, brands, users, onArrival } = options
  const operator = createOperator({
    store: 'sqlite::memory:',
    keys: [{ name: 'platform', key: apiKey, brands }],
    push: recording(),
    site: recording(),
    ...(users === undefined
      ? { suppression: 'none' as const }
      : { attributes: await fileSource(users, brands.length === 1 ? { brand: brands[0] as string } : {}) }),
  })
  await operator.start()
  const inner = await listen('operator', operator.handler)
  const behaviours = createFaultScript<Behaviour>()
  const { next, record, requests } = createRecorder<Arrival>(onArrival)

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', 'http://fake')
    if (pathname.startsWith(controlPath))
      return serveControl(request, response, { behaviours, readBehaviour, listName: 'arrivals', requests })
    const body = await readBody(request)
    if (body === undefined) return reply(response, 413, '{"error":"the body is larger than 64 MiB"}')
    const endpoint = request.method === 'POST' ? endpointOf(pathname) : undefined
    if (endpoint === undefined) return forward(inner.url, request, body, response).then(() => {})
    const [n, at] = [next(), clock.now()]
    const messages = messagesOf(endpoint, body)
    const recipients = new Set(messages.map(({ user }) => user))
    const behaviour = findBehaviour(behaviours, endpoint, recipients, ({ outcome }) => outcome === undefined)
    const arrival = { at, endpoint, messages, ...(behaviour && { behaviour }) }
    const { delay_ms: delayMs, hang, cut, answer } = behaviour ?? {}
    if (delayMs !== undefined) await new Promise<void>((resolve) => clock.setTimeout(resolve, delayMs).unref())
    if (hang) return record({ n, ...arrival })
    if (cut === 'before') {
      record({ n, ...arrival })
      return void resetSocket(response.socket)
    }
    if (answer) {
      record({ n, ...arrival, status: answer.status, answer: shorten(answer.body ?? '') })
      return reply(response, answer.status, answer.body ?? '', answer.headers)
    }
    if (endpoint === 'reconciliation') {
      const status = await forward(inner.url, request, body, response, cut === 'after')
      return record({ n, ...arrival, ...(status !== undefined && { status }) })
    }
    const [channel, mode] = endpoint.split('/') as [Channel, Mode]
    const outcomeOf = (user: string): Behaviour['outcome'] =>
      findBehaviour(behaviours, endpoint, new Set([user]), ({ outcome }) => outcome !== undefined)?.outcome
    const forced = forceOutcomes(channel, mode, body, outcomeOf)
    const real = forced.body && (await exchange(inner.url, request, forced.body))
    const { status, text, headers } = forced.complete(real)
    if (cut === 'after') {
      record({ n, ...arrival })
      return void resetSocket(response.socket)
    }
    record({ n, ...arrival, ...(forced.behaviour && { behaviour: forced.behaviour }), status, answer: shorten(text) })
    reply(response, status, text, headers)
  }

  const stop = async (): Promise<void> => {
    await inner.close(0)
    await operator.stop(0)
  }
  return openServer(serve, options, stop)
}
