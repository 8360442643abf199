// The log of refused requests. Strangers and users can cause any number of them, so they are counted for each address.

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

type Refused = Events['request.refused']

const countRefusal = summarizeRepeats(60_000, (address, count, { path, status, error, cause }: Refused) =>
  emit('requests.refused', { address, count, path, status, error, ...(cause !== undefined && { cause }) }),
)

/** Reports a refused request of a user, or of a caller without a right key. */
export function reportStranger(raw: Pick<IncomingMessage, 'socket' | 'headers'>, refused: Refused): void {
  emit('request.refused', { ...refused, counted: true })
  countRefusal(networkOf(addressOf(raw)), refused)
}
