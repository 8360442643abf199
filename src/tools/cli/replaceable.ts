// A running side that a reload replaces by another one with the same store and the same addresses.

import type { ServerResponse } from 'node:http'
import type { Handler } from '../../base/http/http.ts'
import type { Service } from '../../base/http/service.ts'
import { clock } from '../../base/runtime/clock.ts'

export interface Replaceable {
  readonly current: Service
  /** A handler of the current side. Requests wait while the side is replaced, except those for /healthz. */
  handlerOf(choose: (service: Service) => Handler): Handler
  /**
   * Lets the requests in progress end, stops the side, and starts the other one. Requests that arrive meanwhile wait for it.
   *
   * @param next creates the other side
   * @param withinMs for the requests in progress, and again for the stop
   */
  replace(next: () => Promise<Service>, withinMs: number): Promise<void>
}

/** @param first a side that has started */
export function createReplaceable(first: Service): Replaceable {
  let current = first
  let waiting: (() => void)[] | undefined
  const inProgress = new Set<ServerResponse>()
  let onEnd: (() => void) | undefined

  /** A stream of events lasts until its side stops. Headers that are given to writeHead() are not seen here. */
  const isAwaited = (response: ServerResponse): boolean =>
    !String(response.getHeader('content-type')).startsWith('text/event-stream')

  async function untilAnswered(withinMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    onEnd = () => {
      if (![...inProgress].some(isAwaited)) resolve()
    }
    const timer = clock.setTimeout(resolve, withinMs)
    onEnd()
    await promise
    clock.clearTimeout(timer)
    onEnd = undefined
  }

  return {
    get current() {
      return current
    },
    handlerOf: (choose) => (request, response) => {
      const handle = (): void => {
        if (request.destroyed) return
        inProgress.add(response)
        response.once('close', () => {
          inProgress.delete(response)
          onEnd?.()
        })
        choose(current)(request, response)
      }
      if (waiting && request.url !== '/healthz') waiting.push(handle)
      else handle()
    },
    async replace(next, withinMs) {
      waiting = []
      const handles = waiting
      try {
        await untilAnswered(withinMs)
        await current.stop(withinMs)
        current = await next()
      } finally {
        // Without another side, the stopped one refuses them.
        waiting = undefined
        for (const handle of handles) handle()
      }
    },
  }
}
