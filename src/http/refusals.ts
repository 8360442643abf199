// The log of refused requests. Strangers can cause any number of them, so they are counted for each address.

import type { IncomingMessage } from 'node:http'
import { type Events, emit } from '../runtime/events.ts'
import { summarizeRepeats } from '../runtime/summarize-repeats.ts'
import { addressOf, networkOf } from './address.ts'

const longestPath = 200

/** The path of a request for the log, without the query, which may contain a token. */
export function shownPath(url = ''): string {
  const path = url.split(/[?#]/, 1)[0] as string
  return path.length > longestPath ? `${path.slice(0, longestPath)}…` : path
}

const countRefusal = summarizeRepeats(60_000, (address, count, request: { path: string; status: number }) =>
  emit('requests.refused', { address, count, ...request }),
)

/** Reports a refused request of a caller without a right key or token. */
export function reportStranger(
  raw: Pick<IncomingMessage, 'socket' | 'headers'>,
  refused: Events['request.refused'],
): void {
  emit('request.refused', { ...refused, counted: true })
  countRefusal(networkOf(addressOf(raw)), { path: refused.path, status: refused.status })
}
