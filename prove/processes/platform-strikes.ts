// Preloaded into a platform (node --import): reports when it listens, and strikes at its points, in the middle of a turn. No
// concurrent work of the platform may then duplicate or lose a message.

import { subscribe } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'
import { type EventName, on } from '../../src/base/runtime/events.ts'
import { countPassing, type PlatformPoint, strike } from './strike.ts'

on('server.listening', ({ url }) => process.send?.({ ready: { url } }))
process.on('disconnect', () => process.exit(0))

// A request to enqueue has arrived and is unread.
subscribe('http.server.request.start', (message) => {
  const { request } = message as { request: IncomingMessage }
  if (request.url?.startsWith('/admin/activities') && countPassing('before-enqueueing')) strike()
})

// A part of a stream is durable, and no answer was sent.
at('queue.enqueued', 'while-enqueueing')
// This process owns the lane and has read no item.
at('lane.owned', 'before-read-ahead')
// A batch is cut, and its request has not started.
at('batch.sent', 'between-read-and-call')
// The operator's answer is only in memory.
at('call.done', 'between-answer-and-settle')
at('item.settled', 'after-settle')

function at(event: EventName, point: PlatformPoint): void {
  on(event, () => {
    if (countPassing(point)) strike()
  })
}
