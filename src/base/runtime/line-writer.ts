// Writes the log to standard output. Neither a slow reader nor a full disk delays the engine, and neither keeps the process from ending.

import { write, writeSync } from 'node:fs'
import { clock } from './clock.ts'

export interface LineWriter {
  write(line: string): void
  /** Writes the waiting lines, as far as they can be written at once. */
  stop(): void
}

/** Lines that wait for a reader or for space. Beyond it, further lines are dropped. */
const mostWaiting = 16 * 1024 * 1024
const retryMs = 1_000
const flushMs = 1_000

/** @example const writer = createLineWriter(1); writer.write('{"level":"info"}\n'); writer.stop() */
export function createLineWriter(fd: number): LineWriter {
  let waiting: string[] = []
  let length = 0
  let writing = Buffer.alloc(0)
  let busy = false
  let closed = false

  function writeNext(): void {
    if (busy || closed) return
    if (writing.length === 0) {
      writing = Buffer.from(waiting.join(''))
      waiting = []
      length = 0
    }
    if (writing.length === 0) return
    busy = true
    write(fd, writing, (error, written) => {
      busy = false
      if (error) return onError(error)
      writing = writing.subarray(written)
      writeNext()
    })
  }

  function onError({ code }: NodeJS.ErrnoException): void {
    if (code === 'EPIPE') closed = true
    else clock.setTimeout(writeNext, code === 'EAGAIN' ? 10 : retryMs).unref()
  }

  function flush(): void {
    if (closed) return
    closed = true
    // A write in progress has these bytes already.
    let rest = Buffer.concat([busy ? Buffer.alloc(0) : writing, Buffer.from(waiting.join(''))])
    const until = clock.monotonic() + flushMs
    while (rest.length > 0 && clock.monotonic() < until) {
      try {
        rest = rest.subarray(writeSync(fd, rest))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return
      }
    }
  }

  process.once('exit', flush)
  return {
    write(line) {
      if (closed || length > mostWaiting) return
      waiting.push(line)
      length += line.length
      writeNext()
    },
    stop() {
      process.off('exit', flush)
      flush()
    },
  }
}
