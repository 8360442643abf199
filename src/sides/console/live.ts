// The live part of a page: while somebody looks, it is composed again each second and sent if it changed.

import type { ServerResponse } from 'node:http'
import { HttpError } from '../../base/http/http-error.ts'
import { clock } from '../../base/runtime/clock.ts'
import type { Html } from './html.ts'

const everyMs = 1_000
/** So that a proxy between does not end the connection. */
const pingMs = 15_000
/** Most open live pages of this process. */
const mostViewers = 200
export const eventStream = 'text/event-stream; charset=utf-8'
/** The page is opened again, and says why it has ended. */
export const endedEvent = 'event: ended\ndata: \n\n'
/** A viewer that has not read this much is left out until it has. */
const mostUnread = 256 * 1024

interface Viewer {
  readonly response: ServerResponse
  readonly compose: () => Promise<Html>
  shown: Html
  composing: boolean
  lastAt: number
}

export interface LivePages {
  /** Sends the part as server-sent events until the viewer leaves, or the part can no longer be composed for the viewer. */
  add(response: ServerResponse, headers: Readonly<Record<string, string>>, compose: () => Promise<Html>): void
  /** Ends all connections. */
  stop(): void
}

export function createLivePages(): LivePages {
  const viewers = new Set<Viewer>()
  let timer: NodeJS.Timeout | undefined
  let stopped = false

  return {
    add(response, headers, compose) {
      if (viewers.size >= mostViewers || stopped)
        throw new HttpError(503, 'too many live pages are open: close some, or pause them', 5)
      response.setHeader('content-type', eventStream)
      response.writeHead(200, { ...headers, 'x-accel-buffering': 'no' })
      // The viewer is connected before the first part is composed.
      response.flushHeaders()
      const viewer: Viewer = { response, compose, shown: '', composing: false, lastAt: clock.monotonic() }
      viewers.add(viewer)
      response.once('close', () => {
        viewers.delete(viewer)
        if (viewers.size > 0) return
        clock.clearInterval(timer)
        timer = undefined
      })
      void show(viewer)
      timer ??= clock
        .setInterval(() => {
          for (const each of viewers) void show(each)
        }, everyMs)
        .unref()
    },
    stop() {
      stopped = true
      for (const { response } of viewers) response.end()
    },
  }
}

async function show(viewer: Viewer): Promise<void> {
  const { response } = viewer
  if (viewer.composing || response.writableLength > mostUnread) return
  viewer.composing = true
  try {
    const part = await viewer.compose()
    const now = clock.monotonic()
    if (part === viewer.shown && now - viewer.lastAt < pingMs) return
    response.write(
      part === viewer.shown ? 'event: unchanged\ndata: \n\n' : `data: ${part.replace(/\r\n?|\n/g, '\ndata: ')}\n\n`,
    )
    viewer.shown = part
    viewer.lastAt = now
  } catch (error) {
    // The page itself shows an error that lasts. A store that is away for a moment ends no connection.
    if (!(error instanceof HttpError) || error.status >= 500) return
    response.end(endedEvent)
  } finally {
    viewer.composing = false
  }
}
