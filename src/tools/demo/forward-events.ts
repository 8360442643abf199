// Loaded before the command of a side: sends the side's events to the demo, and ends the side if the demo has ended.

import { type EventName, on } from '../../base/runtime/events.ts'

const forwarded: readonly EventName[] = [
  'device.sent',
  'inbox.shown',
  'item.retry',
  'item.settled',
  'lane.held',
  'server.listening',
  'store.back',
  'store.lost',
]

for (const name of forwarded) on(name, (event) => process.send?.([name, event]))
process.on('disconnect', () => process.exit(1))
// The listener alone would keep the process alive.
process.channel?.unref()
