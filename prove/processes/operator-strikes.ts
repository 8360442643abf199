// Preload of an operator (node --import): reports when it listens, and strikes at the points that events show.
// The two other points are held in the suppression source and in the witness's provider.

import { ServerResponse } from 'node:http'
import { on } from '../../src/runtime/events.ts'
import { isPlanned, reached, strikeAtRest } from './strike.ts'

on('server.listening', ({ url }) => process.send?.({ ready: { url } }))
process.on('disconnect', () => process.exit(0))

// Emitted while the request is read: what claims it comes in a later turn.
on('message.received', () => {
  if (reached('before-claim')) void strikeAtRest()
})

if (isPlanned('after-settle')) {
  let mute = false
  // The settle is on disk, the answer must not leave: from here on answers are swallowed until the process dies.
  on('message.settled', () => {
    if (!reached('after-settle')) return
    mute = true
    void strikeAtRest().then(() => {
      mute = false
    })
  })
  const { end } = ServerResponse.prototype
  ServerResponse.prototype.end = function (this: ServerResponse, ...args: never[]) {
    return mute ? this : end.apply(this, args as never)
  } as typeof end
}
