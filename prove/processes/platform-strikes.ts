// Preload of a platform (node --import): reports when it listens, and strikes at its points. It strikes in the middle of a
// turn: whatever else was going on there, nothing of the platform's may double or lose a message.

import { subscribe } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'
import { type EventName, on } from '../../src/runtime/events.ts'
import { type PlatformPoint, reached, strike } from './strike.ts'

on('server.listening', ({ url }) => process.send?.({ ready: { url } }))
process.on('disconnect', () => process.exit(0))

// A request to enqueue has arrived, none of it is read.
subscribe('http.server.request.start', (message) => {
  const { request } = message as { request: IncomingMessage }
  if (request.url?.startsWith('/admin/activities') && reached('before-put')) strike()
})

// Some of a stream is put and durable, nobody was answered.
at('queue.put', 'while-putting')
// The lane is this process's; nothing of it is read.
at('lane.owned', 'before-read-ahead')
// Read ahead and cut into a batch, the request not begun.
at('batch.sent', 'between-read-and-call')
// The operator's answer is here, in memory only.
at('call.done', 'between-answer-and-settle')
at('item.settled', 'after-settle')

function at(event: EventName, point: PlatformPoint): void {
  on(event, () => {
    if (reached(point)) strike()
  })
}
