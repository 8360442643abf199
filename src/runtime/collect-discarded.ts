// V8 collects buffers late, since a buffer read from a socket counts little in its heap size: a long list would leave up to a
// hundred megabytes uncollected. A reader of such a list reports the bytes that it has used, and every few megabytes a minor
// garbage collection runs: less than a millisecond each (docs/performance-notes.md).

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const collectEveryBytes = 8 * 1024 * 1024

let collectYoung: (() => void) | undefined
let bytesSince = 0

/** Reports bytes of a list that were read and used, and are no longer needed. */
export function collectDiscarded(bytes: number): void {
  bytesSince += bytes
  if (bytesSince < collectEveryBytes) return
  bytesSince = 0
  collectYoung ??= createCollector()
  collectYoung()
}

/** A context created while the flag is set has the function `gc`; the main context never gets it. */
function createCollector(): () => void {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as (options: { type: 'minor' }) => void
  setFlagsFromString('--no-expose-gc')
  return () => gc({ type: 'minor' })
}
