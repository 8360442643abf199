// The engine collects buffers late: what a socket read weighs little where it counts, and a long list would leave up to a hundred
// megabytes behind before it looks. Whoever reads such a list says how much it has done with, and every few megabytes the young
// ones are collected: in less than a millisecond each time (docs/performance.md).

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const enough = 8 * 1024 * 1024

let collectYoung: (() => void) | undefined
let bytesSince = 0

/** So many bytes of a list were read, used, and will not be looked at again. */
export function collectDiscarded(bytes: number): void {
  bytesSince += bytes
  if (bytesSince < enough) return
  bytesSince = 0
  collectYoung ??= collector()
  collectYoung()
}

/** A new context has the engine's `gc` while the flag is up; nobody else ever sees it. */
function collector(): () => void {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as (options: { type: 'minor' }) => void
  setFlagsFromString('--no-expose-gc')
  return () => gc({ type: 'minor' })
}
