// Preloaded into an operator (node --import): reports when it listens, and strikes at the points that have an event. The other
// two points are in the suppression source and in the witness's provider.

import { ServerResponse } from 'node:http'
import { on } from '../../src/base/runtime/events.ts'
import { countPassing, strikeAfterTurn } from './strike.ts'

on('server.listening', ({ url }) => process.send?.({ ready: { url } }))
process.on('disconnect', () => process.exit(0))

// This event is emitted while the request is read. The claim comes in a later turn.
on('message.received', () => {
  if (countPassing('before-claim')) void strikeAfterTurn()
})

let dropAnswers = false
// The settle is durable, but the answer must be lost: answers are dropped until the process ends.
on('message.settled', () => {
  if (!countPassing('after-settle')) return
  dropAnswers = true
  void strikeAfterTurn().then(() => {
    dropAnswers = false
  })
})
const { end } = ServerResponse.prototype
ServerResponse.prototype.end = function (this: ServerResponse, ...args: never[]) {
  return dropAnswers ? this : end.apply(this, args as never)
} as typeof end
